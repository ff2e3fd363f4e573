from fractions import Fraction

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gpugraph.base.errors import InputError
from gpugraph.graph.families import FAMILIES, find_family, is_spec
from gpugraph.graph.spec import parse_spec
from tests.tiers import drawn


@pytest.mark.parametrize("family", list(map(find_family, FAMILIES)), ids=lambda family: family.name)
def test_the_example_of_every_family_is_a_spec_and_its_own_canonical_text(family):
    spec = parse_spec(family.example)
    assert spec.family == family.name
    assert parse_spec(str(spec)) == spec
    assert is_spec(family.example)


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("rmat:20,ef=16,seed=1,w=1..1048576,dtype=uint32", "rmat:20"),
        ("rmat:scale=20", "rmat:20"),
        (" rmat:20 , seed=7", "rmat:20,seed=7"),
        ("rmat:3,w=1..255,seed=2,ef=8", "rmat:3,ef=8,seed=2,w=1..255"),
        ("rmat:3,a=.45,b=.15,c=0.15", "rmat:3,a=0.45,b=0.15,c=0.15"),
        ("rmat:3,w=0.0..1", "rmat:3,w=0.0..1.0"),
        ("rmat:3,w=-5..5", "rmat:3,w=-5..5"),
        ("rmat:3,w=1..1,dtype=float64", "rmat:3,w=unit,dtype=float64"),
        ("random:n=2^14,ef=2.5", "random:n=16384,ef=2.5"),
        ("grid:3X4", "grid:3x4"),
        ("counterexample:1024", "counterexample"),
        ("counterexample:n=8,directed=0", "counterexample:8,directed=no"),
        ("counterexample,seed=2", "counterexample:seed=2"),
    ],
)
def test_the_canonical_text_leaves_out_defaults_and_parses_back(text, canonical):
    spec = parse_spec(text)
    assert str(spec) == canonical
    assert parse_spec(canonical) == spec


@pytest.mark.parametrize(
    ("text", "dtype"),
    [
        ("rmat:3", "uint32"),
        ("rmat:3,w=-1..5", "int32"),
        ("rmat:3,w=-1..2^32", "int64"),
        ("rmat:3,w=0..18446744073709551615", "uint64"),
        ("rmat:3,w=2^63..18446744073709551615", "uint64"),
        ("rmat:3,w=.5..1", "float64"),
        ("rmat:3,w=.5..1,dtype=float32", "float32"),
        ("rmat:3,w=unit,dtype=int64", "int64"),
    ],
)
def test_the_narrowest_fitting_dtype_is_taken_unless_one_is_named(text, dtype):
    assert parse_spec(text).weights.dtype == dtype


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("rmatt:20", "unknown graph family 'rmatt' — did you mean 'rmat'"),
        ("rmat:20,eff=3", "spec 'rmat:20,eff=3': unknown key of 'rmat' 'eff' — did you mean 'ef'"),
        ("rmat", "needs scale .* — e.g. rmat:20"),
        ("rmat:", "needs scale"),
        ("rmat:x", "scale takes a whole number, not 'x'"),
        ("rmat:2.5", "scale takes a whole number"),
        ("rmat:41", "scale lies in 0..40"),
        ("rmat:38", "more than 2\\^40"),
        ("rmat:" + "9" * 5000, "scale takes a whole number"),
        ("path:5,shuffled", "expected KEY=VALUE, got 'shuffled' — write shuffled=yes"),
        ("ssca2:6,deg=3,clique=4", "takes either deg= or clique="),
        ("rmat:20,20", "expected KEY=VALUE, got '20'"),
        ("rmat:3,,seed=2", "expected KEY=VALUE, got ''"),
        ("rmat:20,scale=3", "scale is given twice"),
        ("rmat:20,seed=-1", "seed lies in 0..18446744073709551615"),
        ("rmat:20,seed=", "seed takes a whole number"),
        ("rmat:2,a=0.9,b=0.9", "a \\+ b \\+ c is 1.99"),
        ("rmat:2,a=0.12345678901234567890", "a takes a number"),
        ("rmat:20,w=5..1", "end before they begin — write w=1..5"),
        ("rmat:20,w=a..b", "w takes LO..HI, LO/HI or unit, not 'a..b'"),
        ("rmat:20,w=7", "w takes LO..HI, LO/HI or unit"),
        ("rmat:20,w=", "w takes LO..HI, LO/HI or unit"),
        ("rmat:20,w=nan..1", "w takes LO..HI, LO/HI or unit"),
        ("rmat:20,dtype=float", "unknown dtype 'float' — did you mean 'float64'"),
        ("rmat:2,w=1..2^32,dtype=uint32", "do not fit in uint32"),
        ("rmat:2,w=0.1..2,dtype=uint32", "weights in 0.1..2 do not fit in uint32"),
        ("rmat:2,w=-1..2^63", "more than 64 bits"),
        ("rmat:2,w=0..2^64", "more than 64 bits"),
        ("rmat:2,w=1.0e0..1.0e39,dtype=float32", "do not fit in float32"),
        ("grid:10", "expected WIDTHxHEIGHT, got '10'"),
        ("grid:10x-3", "height lies in 1"),
        ("grid:0x5", "width lies in 1"),
        ("grid:2^21x2^21", "more than 2\\^40"),
        ("random:n=10", "takes one of m=, deg= and ef=, not none"),
        ("random:n=10,m=3,deg=4", "not m and deg"),
        ("regular:n=4", "takes either in= or out="),
        ("regular:n=4,in=1,out=1", "takes either in= or out="),
        ("regular:n=4,in=4", "cannot have 4 neighbours among 4 vertices"),
        ("complete:9999999", "more than 2\\^40"),
        ("dense:n=10,density=1.5", "density lies in 0..1"),
        ("counterexample:2", "n lies in 3"),
        ("counterexample:directed=maybe", "directed takes yes or no"),
        ("knn:n=10,w=1..2", "has weights of its own"),
    ],
)
def test_a_wrong_spec_is_refused_with_a_remedy(text, said):
    with pytest.raises(InputError, match=said):
        parse_spec(text)


@drawn(300)
@given(st.text(alphabet="rmatgidxnwef=,.:^-0123456789 ", max_size=25))
@example("grid:1x")
@example("rmat:2,w=..")
@example("rmat:2^99")
def test_no_text_raises_anything_but_an_input_error(text):
    for candidate in (text, f"rmat:{text}", f"random:{text}", f"grid:{text}"):
        try:
            spec = parse_spec(candidate)
        except InputError:
            continue
        assert parse_spec(str(spec)) == spec


@pytest.mark.parametrize("text", ["rmat:20", "rmat", "counterexample", "rmatt:20", "foo:a=b", "gridd:3x4", "rmat:x"])
def test_what_reads_as_a_spec_is_one_even_if_wrong(text):
    assert is_spec(text)


@pytest.mark.parametrize("text", ["a.gr", "C:\\x.gr", "C:9", "dir/rmat:20", "x:y.gr", "http://x/y=z", "", "graph"])
def test_file_names_are_no_specs(text):
    assert not is_spec(text)


def test_sizes_are_known_without_making_the_graph():
    spec = parse_spec("rmat:24,dtype=float64")
    assert spec.vertices == 2**24
    assert spec.arcs == 2**29
    assert spec.estimate_bytes() > 2**29 * (4 + 8)
    assert parse_spec("grid:3x4").arcs == 34
    assert parse_spec("regular:n=100,in=7").arcs == 700
    assert dict(parse_spec("random:n=8,deg=2.5").values)["deg"] == Fraction(5, 2)
