"""Lists and tables as other programs write them, each with the graph that it means or the words that refuse it."""

from __future__ import annotations

import io
import sys
import tarfile
import zipfile
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

import gpugraph
from gpugraph.base.errors import InputError
from gpugraph.ext.formats.files import save_file
from gpugraph.ext.formats.text import fields
from gpugraph.graph.csr import CSRGraph
from tests.cli.runner import succeed
from tests.tiers import drawn
from tests.zoo import directed

SNAP = "# Undirected graph: ../x.ungraph.txt\n# test\n# Nodes: 3 Edges: 2\n# FromNodeId\tToNodeId\n0\t5\n5\t7\n"
GEPHI = "Source,Target,Type,Id,Label,timeset,Weight\n0,1,Undirected,0,,,4.0\n1,2,Undirected,1,,,5.0\n"
BIG = 2**64 - 1
BANNER = "%%MatrixMarket matrix coordinate real general"
R_ROWS = [("a", "b", 3.5), ("b", "c", 1.0)]


def edges(graph: CSRGraph) -> list[tuple[Any, Any, Any]]:
    """Return the arcs, of an undirected graph each edge once, by the file's own ids."""
    tails = [u for u in range(graph.vertices) for _ in range(graph.offsets[u], graph.offsets[u + 1])]
    arcs = zip(tails, graph.targets.tolist(), graph.weights.tolist(), strict=True)
    kept = [(u, v, w) for u, v, w in arcs if graph.directed or u <= v]
    return [(graph.name_of(u), graph.name_of(v), w) for u, v, w in kept]


def load(folder: Path, name: str, content: str | bytes, **options: Any) -> CSRGraph:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return gpugraph.load(path, **options)


READ: dict[str, tuple[str, bool, list[tuple[Any, Any, Any]], str]] = {
    "post-codes.csv": (
        "from,to,weight\n01234,01235,4\n1234,01235,5\n",
        True,
        [("01234", "01235", 4), ("1234", "01235", 5)],
        "ids have leading zeros or signs, as '01234'",
    ),
    "gephi.csv": (GEPHI, False, [(0, 1, 4.0), (1, 2, 5.0)], "left out: columns 'Id', 'Label', 'timeset'"),
    "type.csv": (
        "source;target;type;weight\na;b;Directed;3,5\n",
        True,
        [("a", "b", 3.5)],
        "directed: column 'type' says so; column 'weight' weighs",
    ),
    "road-type.csv": ("source;target;type;weight\na;b;road;3\n", True, [("a", "b", 3)], "left out: column 'type'"),
    "floats.csv": ("source,target,weight\n1.0,2.0,3.5\n2.0,3.0,1.5\n", True, [(1, 2, 3.5), (2, 3, 1.5)], "'weight'"),
    "pandas.csv": (",source,target,weight\n0,10,20,3.5\n1,20,30,1.5\n", True, [(10, 20, 3.5), (20, 30, 1.5)], ""),
    "pandas2.csv": (",a,b,c\n0,10,20,3\n1,20,30,1\n", True, [(10, 20, 3), (20, 30, 1)], "column 'c' weighs"),
    "big-ids.txt": (
        f"{BIG} {BIG - 1} 5\n{BIG - 1} 7 6\n",
        True,
        [(str(BIG), str(BIG - 1), 5), (str(BIG - 1), "7", 6)],
        f"ids reach 2^63, as '{BIG - 1}': they are taken as names, letter by letter",
    ),
    "snap.txt": (SNAP, False, [(0, 5, 1), (5, 7, 1)], "its comment says 'Undirected graph'"),
    "snap-directed.txt": ("# Directed graph: x.txt\n0\t5\n5\t0\n", True, [(0, 5, 1), (5, 0, 1)], "'Directed graph'"),
    "snap-once.txt": (
        "# Directed graph (each unordered pair of nodes is saved once): x.txt\n0\t1\n1\t2\n",
        True,
        [(0, 1, 1), (1, 2, 1)],
        "its comment says 'Directed graph' and 'each unordered pair … once'",
    ),
    "quoted.csv": ('"source","target","weight"\n"1","2","3.5"\n', True, [(1, 2, 3.5)], "column 'weight' weighs"),
    "half-quoted.csv": ('source,target,weight\n"1","2","3"\n', True, [(1, 2, 3)], ""),
    "blank.csv": ("source,target,weight\n1,2,3.5\n2,3,1.5\n\n\n", True, [(1, 2, 3.5), (2, 3, 1.5)], "2 lines"),
    "wuv.csv": ("w,u,v\n3,1,2\n1,2,3\n", True, [(1, 2, 3), (2, 3, 1)], "column 'w' weighs"),
    "cost.csv": ("from,to,cost\n1,2,3\n", True, [(1, 2, 3)], "column 'cost' weighs"),
    "R.csv": ('"source","target","weight"\n1,2,3.5\n', True, [(1, 2, 3.5)], ""),
    "R-names.csv": ('"from","to","weight"\n"a","b",3.5\n', True, [("a", "b", 3.5)], ""),
    "R-rows.csv": (
        '"","from","to","weight"\n"1","a","b",3.5\n"2","b","c",1\n',
        True,
        [("a", "b", 3.5), ("b", "c", 1.0)],
        "",
    ),
    "R-table.txt": (
        '"from" "to" "weight"\n"1" "a" "b" 3.5\n"2" "b" "c" 1\n',
        True,
        [("a", "b", 3.5), ("b", "c", 1.0)],
        "",
    ),
    "timestamp.csv": ("source,target,timestamp\n1,2,1082040961\n", True, [(1, 2, 1)], "left out: column 'timestamp'"),
    "id.csv": ("source,target,id\n1,2,7\n2,3,9\n", True, [(1, 2, 1), (2, 3, 1)], "left out: column 'id'"),
    "year.parquet.csv": ("u,v,year\n1,2,1999\n", True, [(1, 2, 1)], "--columns u,v,year weighs by 'year'"),
    "excel.csv": ("sep=;\r\nfrom;to;km\r\n1;2;3,5\r\n", True, [(1, 2, 3.5)], "column 'km' weighs"),
    "neo4j.csv": (":START_ID(P),:END_ID(P),weight:float,:TYPE\na,b,1.5,KNOWS\n", True, [("a", "b", 1.5)], ""),
    "hash.csv": (
        "# a comment\nfrom,to,km\n#9,b,3\n# b,c,4\nb,c,5\n",
        True,
        [("#9", "b", 3), ("b", "c", 5)],
        "2 rows",
    ),
    "commented-out.csv": ("from,to,km\n#1,2,3\n1,3,5\n", True, [(1, 3, 5)], "1 line"),
    "pipes.csv": ("source|target|weight\na|b|3\n", True, [("a", "b", 3)], "1 row"),
    "place.csv": ("from,to,lat\n1,2,50\n", True, [(1, 2, 1)], "left out: column 'lat'"),
    "promises.csv": ('# Nodes: 5 Edges: 7\n"a","b",3\n', True, [("a", "b", 3)], "gives 5 vertices, the file names 2"),
    "names.csv": ("src,dst,weight\nann,bob,3\n", True, [("ann", "bob", 3)], ""),
    "some-names.csv": (
        "source,target,weight\nb,b,9\n+1,c,5\n7,8,6\n",
        True,
        [("+1", "c", 5), ("7", "8", 6)],
        "ids are names, as 'b', and so are those that are numbers, as '7'",
    ),
    "late-names.csv": (
        "source,target\n" + "1,2\n" * 150 + "x,3\n",
        True,
        [("1", "2", 1), ("x", "3", 1)],
        "ids are names, as 'x', and so are those that are numbers, as '1'",
    ),
    "hashed.csv": (
        "source,target\n9223372036854775808,2\n",
        True,
        [("9223372036854775808", "2", 1)],
        "ids reach 2^63, as '9223372036854775808'",
    ),
    "hashed-names.csv": ("source,target\n018,b\n", True, [("018", "b", 1)], "those that are numbers, as '018'"),
    "comment.txt": ("# undirected\n1 2\n2 3\n", False, [(1, 2, 1), (2, 3, 1)], "its comment says 'undirected'"),
    "comment2.txt": ("% Type: directed\r\n1 2\r\n2 1\r\n", True, [(1, 2, 1), (2, 1, 1)], "its comment says 'directed'"),
    "comment3.txt": ("# A weighted undirected graph\n1 2 3\n", False, [(1, 2, 3)], "'weighted undirected graph'"),
    "comment4.txt": (
        "# Undirected, weighted network of x\n1 2 3\n",
        False,
        [(1, 2, 3)],
        "'Undirected, weighted network'",
    ),
    "comment5.txt": ("# directed: False\n1 2 3\n", False, [(1, 2, 3)], "its comment says 'directed: False'"),
    "comment6.txt": ("% directed=1\n1 2\n2 1\n", True, [(1, 2, 1), (2, 1, 1)], "its comment says 'directed=1'"),
    "comment7.csv": ("# Directed\tno\nfrom,to\na,b\n", False, [("a", "b", 1)], "its comment says 'Directed"),
    "comment8.txt": ("# The graph is undirected.\n1 2\n", False, [(1, 2, 1)], "its comment says 'undirected'"),
    "comment9.edgelist": (
        "# undirected: true\n1 2 {'weight': 3}\n",
        False,
        [(1, 2, 3)],
        "its comment says 'undirected: true'",
    ),
    "mutual.csv": (
        "Source,Target,Type\na,b,Mutual\nb,c,Directed\n",
        True,
        [("a", "b", 1), ("b", "a", 1), ("b", "c", 1)],
        "directed: column 'Type' says so",
    ),
    "each.csv": (
        "from,to,weight,directed\n1,2,5,TRUE\n2,3,7,FALSE\n",
        True,
        [(1, 2, 5), (2, 3, 7), (3, 2, 7)],
        "1 row of column 'directed' undirected: taken as two arcs each",
    ),
    "oneway.csv": ("u,v,oneway\n1,2,0\n2,3,0\n", False, [(1, 2, 1), (2, 3, 1)], "column 'oneway' says so"),
    "titles-in-comment.txt": (
        "# src dst timestamp\n1 2 1082040961\n",
        True,
        [(1, 2, 1)],
        "left out: column 'timestamp'",
    ),
    "titles-in-comment.csv": ("#weight,source,target\n9,1,2\n8,2,3\n", True, [(1, 2, 9), (2, 3, 8)], "'weight' weighs"),
    "names-below-comment.csv": ("#weight,source,target\n9,a,b\n", True, [("a", "b", 9)], "'weight' weighs"),
    "sign.txt": ("# Directed graph: x\n# FromNodeId\tToNodeId\tSign\n0\t1\t-1\n", True, [(0, 1, -1)], "'Sign' weighs"),
    "times.txt": (
        "1 2 1082040961\n3 2 1082155839\n",
        True,
        [(1, 2, 1082040961), (3, 2, 1082155839)],
        "looks like times",
    ),
    "times.csv": ("a,b,1082040961\n", True, [("a", "b", 1082040961)], "column 3 weighs, and looks like times"),
    "since.csv": ("source,target,since\n1,2,2010\n", True, [(1, 2, 1)], "left out: column 'since'"),
    "epoch.csv": ("source,target,Unix_Time\n1,2,1082040961\n", True, [(1, 2, 1)], "left out: column 'Unix_Time'"),
    "osm.csv": ("u,v,osmid\n1,2,7\n", True, [(1, 2, 1)], "left out: column 'osmid'"),
    "R-bare.txt": ("from to\n1 7 8\n2 8 9\n", True, [(7, 8, 1), (8, 9, 1)], "left out: column '(untitled)'"),
    "R-bare3.txt": ("from to w\n1 a b 3.5\n2 b c 1\n", True, [("a", "b", 3.5), ("b", "c", 1.0)], "'w' weighs"),
    "igraph.ncol": ("a b 3\nb c 1\n", True, [("a", "b", 3), ("b", "c", 1)], "column 3 weighs"),
    "untitled.csv": ("a,b,3\nb,c,4\n", True, [("a", "b", 3), ("b", "c", 4)], "read as table: 2 rows"),
    "untitled2.csv": ("a,b,3\nb,c,4\n", True, [("a", "b", 3), ("b", "c", 4)], "; column 3 weighs"),
    "fewer.csv": ("u,v$weight\n1,2,5\n1,3,7\n", True, [(1, 2, 5), (1, 3, 7)], "; column 3 weighs"),
    "unusual.csv": ("p,q\n1,2\n", True, [(1, 2, 1)], "line 1 is taken for the names of the columns: 'p', 'q'"),
    "unusual.tsv": ("p\tq\tr\nx\ty\t2\n", True, [("x", "y", 2)], "line 1 is taken for the names of the columns"),
    "same.ncol": ("0 1 2\n1 2 3\n", True, [(0, 1, 2), (1, 2, 3)], "the file does not say whether its lines are arcs"),
    "out.sym": ("% sym positive\n1 2 4\n2 3 5\n", False, [(1, 2, 4), (2, 3, 5)], "its first line says 'sym'; column 3"),
    "out.asym": ("% asym unweighted\n1 2\n2 1\n", True, [(1, 2, 1), (2, 1, 1)], "its first line says 'asym'"),
    "out.bip": ("% bip weighted\n1 1 4\n2 1 5\n", False, [(1, 3, 4), (2, 3, 5)], "raised by 2"),
    "out.times": (
        "% bip multiweighted\n% 2 3 2\n1 1 4 1082040961\n3 2 5 1082040962\n",
        False,
        [(1, 4, 4), (3, 5, 5)],
        "left out: column 4, the times",
    ),
    "marks.edgelist": (
        "C#; 5% {'weight': 2}\n5% a;b {'weight': 3}\n",
        True,
        [("C#;", "5%", 2), ("5%", "a;b", 3)],
        "read as NetworkX's edge list",
    ),
    "long.csv": (f"source,target\n1,{10**20}\n", True, [("1", str(10**20), 1)], "ids reach 2^63"),
    "decimals.csv": ("a;b;1,5\nb;c;2,5\n", True, [("a", "b", 1.5), ("b", "c", 2.5)], "read as table: 2 rows"),
    "decimals2.csv": ("u;v;1,5\nx;y;2,5\n", True, [("u", "v", 1.5), ("x", "y", 2.5)], "read as table: 2 rows"),
    "out.unweighted": ("% sym unweighted\n1 2 7\n2 3 8\n", False, [(1, 2, 1), (2, 3, 1)], "says 'unweighted'"),
}


@pytest.mark.parametrize("arrow", [True, False])
@pytest.mark.parametrize("name", READ)
def test_a_list_is_read_as_it_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, arrow: bool) -> None:
    content, is_directed, expected, says = READ[name]
    monkeypatch.setattr(fields, "_LARGE", 0)
    if not arrow:
        monkeypatch.setitem(sys.modules, "pyarrow", None)
    graph = load(tmp_path, name, content)
    assert (graph.directed, sorted(edges(graph))) == (is_directed, sorted(expected))
    assert says in " ".join((graph.reading, *graph.notes))
    false_claim = "the file does not say" in " ".join(graph.notes) and says.startswith(("its ", "directed"))
    assert not false_claim


def test_isolated_vertices_of_a_bipartite_list_are_counted(tmp_path: Path) -> None:
    graph = load(tmp_path, "out.b", "% bip unweighted\n% 2 3 4\n1 1\n2 4\n")
    assert (graph.vertices, edges(graph)) == (7, [(1, 4, 1), (2, 7, 1)])
    with pytest.raises(InputError, match="says itself that the graph is undirected"):
        load(tmp_path, "out.b", "% bip unweighted\n1 1\n", directed=True)


REFUSED: dict[str, tuple[str | bytes, str]] = {
    "matrix.csv": (";A;B;C\nA;0;4.5;10\nB;4.5;0;5\nC;10;5;0\n", "looks like a matrix .*save_npz"),
    "square.csv": ("0,4,10\n4,0,5\n10,5,0\n", "looks like a matrix of 3 rows .*input_format='edgelist'"),
    "utf16.csv": ("source,target\r\n1,2\r\n".encode("utf-16"), "is UTF-16 text — convert it: iconv -f UTF-16 "),
    "utf16be.txt": ("0 1 4\n1 2 5\n".encode("utf-16-be"), "is UTF-16BE text — .*iconv -f UTF-16BE"),
    "counted.txt": ("5 4 0\n0 1 2\n1 2 3\n2 3 4\n3 4 5\n", "line 1: '5 4 0' may be an edge, or numbers"),
    "entries.txt": ("3 3 2\n1 2 5\n2 3 5\n", "may be an edge, or numbers"),
    "counted2.txt": ("5 4 0\n0 1\n1 2\n", "'5 4 0' is no edge 'u v' as the lines below it"),
    "v1.csv": ("v1,v2\nv2,v3\n", "line 1: 'v1,v2' may be an edge, or the names .*columns='1,2' if it is an edge"),
    "u.txt": ("u v\nv w\n", "line 1: 'u,v' may be an edge, or the names"),
    "v4.csv": ("v1,v2,2019,x\nv2,v3,2020,y\n", "line 1: 4 fields; an edge list has"),
    "unweighed.csv": ("a,b,\nb,c,4\n", "line 1: 'a,b,' may be an edge without its weight, or the names"),
    "two_marks.csv": ("1 2,3\n2 3,4\n", "line 1: '1 2 3' has blanks and commas between its fields"),
    "two_marks.tsv": ("1 2\t3\n2 3\t4\n", "line 1: '1 2 3' has blanks and tabs between its fields"),
    "cities.csv": ("name,lat,lon\nA,50.1,8.6\nB,50.2,8.7\n", "'lat', 'lon' are coordinates"),
    "points.csv": ("x,y\n1,2\n3,4\n", "'x', 'y' are coordinates"),
    "half.csv": ("name,size,weight\nA,50,8\nB,51,9\n", "hardly the ends of edges|one has words"),
    "items.csv": (
        "who,item,n\nann,50,8\nbob,51,9\n",
        "one has words, the other numbers: 'ann', '50' — .*columns='who,item'",
    ),
    "population.csv": ("city,population\nA,5\nB,6\n", "one has words, the other numbers"),
    "reals.csv": ("a,b\n0.5,1.5\n2.5,3.5\n", "the id '0.5' is a real"),
    "tgf.txt": ("1 First\n2 Second\n#\n1 2 5\n", "looks like TGF"),
    "numbers.tgf": ("1\n2\n#\n1 2\n", "looks like TGF"),
    "tuples.txt": ("('a', 'b')\n('b', 'c')\n", "each line has a bracket that does not close"),
    "sets.txt": ("{1,2}\n{2,3}\n", "bracket that does not close in its field: '{1'"),
    "prolog.txt": ("edge(1,2).\nedge(2,3).\n", "bracket that does not close"),
    "matlab.txt": ("   (1,2)        3\n   (2,3)        4\n", "bracket that does not close"),
    "pajek.txt": ('% x\n*Vertices 2\n1 "a"\n2 "b"\n*Edges\n1 2 4\n', "is in the format of Pajek"),
    "pajek2.csv": ("*arcs\n1 2 4\n2 3 5\n", "is in the format of Pajek"),
    "leda.gw": ("LEDA.GRAPH\nvoid\nvoid\n-1\n1\n|{}|\n0\n", "is in the format of LEDA"),
    "ucinet.txt": ("DL n=3\nformat = edgelist1\ndata:\na b 2\n", "is in the format of UCINET"),
    "gdf.csv": ("nodedef>name VARCHAR\ns1\nedgedef>node1,node2\ns1,s1\n", "is in the format of GDF"),
    "lemon.txt": ("@nodes\nlabel\n1\n@arcs\n\n1 1\n", "is in the format of LEMON"),
    "tulip.txt": ('(tlp "2.3"\n(nodes 0..2)\n(edge 0 0 1)\n)\n', "is in the format of Tulip"),
    "graph6.txt": (">>graph6<<DqK\n", "is in the format of graph6"),
    "json.txt": ('{\n "nodes": [{"id": 0}], "links": []}', "is in the format of JSON"),
    "json.csv": ("[[1,2],[2,3]]\n", "is in the format of JSON"),
    "lgl.txt": ("# 0\n1 2.5\n2 1.0\n# 1\n2 3\n", "looks like LGL"),
    "words.lgl": ("# a\nb 1\n# b\nc 2\n", "looks like LGL"),
    "pgrouting.csv": ("id,source,target,cost,reverse_cost\n1,1,2,4,-1\n", "columns='source,target,cost'"),
    "dynamic.txt": ("% asym dynamic\n1 2 1 5\n1 2 -1 9\n", "its edges come and go"),
    "mac.csv": ("u,v,w\r1,2,3\r", r"lines end in carriage returns alone .*tr '.r' '.n' < .*mac.csv > lines.csv"),
    "titles.csv": ("source,target,weight\n", "has names of columns, but no row"),
    "titles.tsv": ('"from"\t"to"\n', "has names of columns, but no row"),
    "one.csv": ("id\n1\n2\n", "line 1: 1 field; an edge list has 'u v'"),
    "one.txt": ("1\n2\n3\n", "line 3: 1 field; an edge list has 'u v'"),
    "word.tsv": ("a\tb\t2\n1\t2\t3\n", "line 1: the vertex id 'a' is not an integer — .*input_format='table'"),
    "word.csv": ("a,b,2\n+1,2,3\n", "line 1: the vertex id 'a' is not an integer — .*input_format='table'"),
    "adjacent.adjlist": ("0 1 2\n1 2 3\n", "is an adjacency list of NetworkX"),
    "thousands.csv": (
        "from;to;km\n1;2;1.234\n2;3;5,5\n",
        "weights have commas and points, as '5,5' and '1.234' — write all of them with points",
    ),
    "late-type.csv": (
        "source,target,type\n" + "1,2,Directed\n" * 150 + "1,3,road\n",
        r"line 152: row 151: 'road' in column 'type' does not say whether .* directed=True or directed=False",
    ),
    "nan.csv": ("source,target\n1.0,2.0\n3.0,nan\n", "line 3: row 2 has no id, but 'nan'"),
    "nan_among_words.csv": ("source,target\na,b\nb,NaN\n", "line 3: row 2 has no id, but 'NaN'"),
}


@pytest.mark.parametrize("weight", ["1_000", '"1,234"', "$5", "5 km", "0x10", "1/2", "-", "?", "NULL", "n/a"])
def test_a_first_edge_whose_weight_cannot_be_read_is_no_names_of_columns(tmp_path: Path, weight: str) -> None:
    with pytest.raises(InputError, match=r"a.csv line 1: row 1: the weight '.*' is not a number"):
        load(tmp_path, "a.csv", f"a,b,{weight}\nb,c,6\n")
    assert edges(load(tmp_path, "a.csv", f"p,q,{weight}\n1,2,6\n")) == [(1, 2, 6)]  # no id is like these


def test_a_first_row_with_a_number_behind_words_is_an_edge(tmp_path: Path) -> None:
    content = "a,b,road,5\nb,c,rail,6\n"
    assert edges(load(tmp_path, "a.csv", content, columns="1,2")) == [("a", "b", 1), ("b", "c", 1)]
    assert edges(load(tmp_path, "a.csv", content, columns="1,2,4")) == [("a", "b", 5), ("b", "c", 6)]
    titled = load(tmp_path, "a.csv", f"p,q,way,2019\n{content}", columns="1,2")  # a year may be a title
    assert edges(titled) == [("a", "b", 1), ("b", "c", 1)]


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_list_of_edges_is_refused_with_the_way_out(tmp_path: Path, name: str) -> None:
    content, says = REFUSED[name]
    with pytest.raises(InputError, match=says):
        load(tmp_path, name, content)


def parquet_of(**columns: Any) -> bytes:
    sink = io.BytesIO()
    parquet.write_table(pa.table(columns), sink)
    return sink.getvalue()


def test_columns_of_parquet_stay_what_they_are(tmp_path: Path) -> None:
    signs = parquet_of(source=["+1", "1", " 2"], target=["2", " 2", "2"], weight=[4, 5, 6])
    assert edges(load(tmp_path, "a.parquet", signs)) == [(" 2", "2", 6), ("+1", "2", 4), ("1", " 2", 5)]
    large = parquet_of(source=pa.array([BIG, 1], pa.uint64()), target=pa.array([1, 2], pa.uint64()), weight=[4, 5])
    assert edges(load(tmp_path, "a.parquet", large)) == [("1", "2", 5), (str(BIG), "1", 4)]
    with pytest.raises(InputError, match="row 2 has no id, but NaN"):
        load(tmp_path, "a.parquet", parquet_of(source=[1.0, float("nan")], target=[2.0, 3.0], weight=[4, 5]))
    assert edges(load(tmp_path, "a.parquet", parquet_of(source=[1.0, 2.0], target=[2.0, 3.0]))) == [
        (1, 2, 1),
        (2, 3, 1),
    ]
    with pytest.raises(InputError, match=r"column 'weight' is of type duration\[us\]"):
        load(tmp_path, "a.parquet", parquet_of(u=[1], v=[2], weight=pa.array([5], pa.duration("us"))))
    with pytest.raises(InputError, match="column 'u' is of type binary — write it as text"):
        load(tmp_path, "a.parquet", parquet_of(u=[b"\xff"], v=[b"a"]))
    with pytest.raises(InputError, match=r"row 2: the id 9007199254740994.0 is a real beyond 2\^53"):
        load(tmp_path, "a.parquet", parquet_of(source=[1.0, 2.0**53 + 2], target=[2.0, 3.0]))
    category = pa.array(["a", "b"]).dictionary_encode()
    assert edges(load(tmp_path, "a.parquet", parquet_of(source=category, target=["b", "c"], w=[1, 2])))[0] == (
        "a",
        "b",
        1,
    )


def test_the_column_that_weighs_may_be_named(tmp_path: Path) -> None:
    text = "source,target,year,toll\n1,2,1999,7\n"
    assert edges(load(tmp_path, "a.csv", text, weight="year")) == [(1, 2, 1999)]
    assert edges(load(tmp_path, "a.csv", text)) == [(1, 2, 7)]
    assert edges(load(tmp_path, "a.csv", text, weights="unit")) == [(1, 2, 1)]
    ways = "u,v,oneway\n1,2,1\n2,3,0\n"
    for options in ({"weight": "oneway"}, {"columns": "u,v,oneway"}):
        assert edges(load(tmp_path, "a.csv", ways, **options)) == [(1, 2, 1), (2, 3, 0)]
    assert not load(tmp_path, "a.parquet", parquet_of(u=[1, 2], v=[2, 3], oneway=[False, False])).directed
    assert edges(load(tmp_path, "a.parquet", parquet_of(u=[1, 2], v=[2, 3], oneway=[1, 0]))) == [
        (1, 2, 1),
        (2, 3, 1),
        (3, 2, 1),
    ]
    with pytest.raises(InputError, match="unknown column 'tool'"):
        load(tmp_path, "a.csv", text, weight="tool")


@pytest.mark.parametrize(
    "content", ["source,target,weight\n1,2,3.5\n2,3,1.5\n", '"from","to","weight"\n"a","b",3.5\n"b","c",1.5\n']
)
def test_a_table_is_read_from_a_pipe(monkeypatch: pytest.MonkeyPatch, content: str) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content.encode())))
    assert [weight for *_, weight in edges(gpugraph.load("-"))] in ([3.5, 1.5], [1], [3])


def test_one_line_says_how_a_file_was_taken(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("from,to,km\n1,2,3\n1,2,4\n2,2,9\n")
    printed = succeed("mst", tmp_path / "a.csv", "--device", "cpu").err
    line = "read as edge list: 3 lines; directed: not every arc has its reverse of equal weight; column 'km' weighs; "
    assert f"{line}dropped 1 self loop; merged 1 parallel arc\n" in printed
    on_device = succeed("mst", tmp_path / "a.csv", "--device", "emulated", "--repeat", 1).err
    assert f"{line}dropped 1 self loop; merged 1 parallel arc\n" in on_device
    assert (
        "read as edge list: 3 lines; undirected: as requested"
        in succeed("info", tmp_path / "a.csv", "--undirected").err
    )
    (tmp_path / "a.gr").write_text("p sp 2 1\na 1 2 5\n")
    assert "read as DIMACS or PACE .gr: directed" in succeed("info", tmp_path / "a.gr").err


WORDS = st.text("ab01.+ -'é", min_size=1, max_size=4).filter(lambda word: word.strip() == word)


@drawn(150)
@given(st.lists(st.tuples(WORDS, WORDS, st.sampled_from(["1", "2.5", "-3", "1e3"])), min_size=1, max_size=6))
def test_arrow_and_python_split_alike(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str, str]]
) -> None:
    folder = tmp_path_factory.mktemp("split")
    text = "source,target,weight\n" + "".join(",".join(row) + "\n" for row in rows)
    answers = []
    for least in (0, 1 << 40):
        with mock.patch.object(fields, "_LARGE", least):
            try:
                graph = load(folder, "a.csv", text)
                answers.append((edges(graph), graph.reading, graph.notes))
            except InputError as error:
                answers.append(str(error))
    assert answers[0] == answers[1]
    if isinstance(answers[0], tuple):
        names = {name for row in rows for name in row[:2]}
        read = {str(name) for edge in answers[0][0] for name in edge[:2]}
        assert read <= names | {name.partition(".")[0] for name in names}


def npz_of(matrix: Any) -> bytes:
    sink = io.BytesIO()
    scipy.sparse.save_npz(sink, matrix)
    return sink.getvalue()


def archives() -> dict[str, tuple[bytes, str]]:
    """Return files that are no graph, and what they are called."""
    packed, arrays, array, tar, pax = (io.BytesIO() for _ in range(5))
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("roads.csv", "source,target\n1,2\n")
    np.savez(arrays, row=np.arange(3), weights=np.ones(3))
    np.save(array, np.eye(3))
    with tarfile.open(fileobj=tar, mode="w:gz") as bundle:
        entry = tarfile.TarInfo("roads.csv")
        bundle.addfile(entry, io.BytesIO())
    with tarfile.open(fileobj=pax, mode="w") as bundle:
        entry.mtime = 0.5  # takes a header of its own, whose name no file has
        bundle.addfile(entry, io.BytesIO())
    eye = scipy.sparse.eye_array(4)
    return {
        "k24.zip": (packed.getvalue(), "is a zip archive of roads.csv — unpack it"),
        "k25.tar.gz": (tar.getvalue(), "is a tar archive that begins with roads.csv — unpack it"),
        "k26.tar": (pax.getvalue(), "is a tar archive — unpack it"),
        "k07.npz": (npz_of(eye.todia()), r"holds a SciPy matrix of format dia — save it as csr: .*\.tocsr\(\)"),
        "k08.npz": (npz_of(eye.tobsr((2, 2))), r"holds a SciPy matrix of format bsr — save it as csr: .*\.tocsr\(\)"),
        "arrays.npz": (arrays.getvalue(), "holds the arrays row, weights, which are no SciPy matrix"),
        "matrix.npy": (array.getvalue(), r"is a NumPy array \(.npy\)"),
        "m01.mtx": (f"  {BANNER}\n3 3 1\n1 2 4.0\n".encode(), "begins with 2 blanks before '%%MatrixMarket'"),
        "m28.mtx": (f"{BANNER} (see note)\n3 3 1\n1 2 4\n".encode(), r"the banner is followed by '\(see note\)'"),
        "d07.gr": (b"p sp 3 2\na 1 2 5\na 2 4 6\n", "line 3: the vertex id 4 is out of range 1..3, or 0..2 where"),
        "e35.txt": (f"{2**64} 2 5\n".encode(), "needs more than 64 bits"),
    }


@pytest.mark.parametrize("name", archives())
def test_a_file_that_is_refused_is_called_what_it_is(tmp_path: Path, name: str) -> None:
    content, says = archives()[name]
    with pytest.raises(InputError, match=says) as refused:
        load(tmp_path, name, content)
    assert "damaged" not in str(refused.value)


def test_what_is_proposed_for_a_dense_matrix_gives_its_graph(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    np.save("dense.npy", np.array([[0, 4, np.inf], [4, 0, np.inf], [np.inf, np.inf, 0]]))
    with pytest.raises(InputError) as refused:
        gpugraph.load("dense.npy")
    remedy = str(refused.value).partition("sparse matrix: ")[2].replace("path", "'dense.npy'")
    exec(remedy, {"scipy": scipy, "numpy": np})
    graph = gpugraph.load("m.npz")
    assert (graph.vertices, edges(graph)) == (3, [(0, 1, 4.0)])


def test_a_sound_matrix_of_complex_numbers_is_not_called_damaged(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="complex128") as refused:
        load(tmp_path, "m.npz", npz_of(scipy.sparse.csr_array(np.eye(2) * 1j)))
    assert "damaged" not in str(refused.value)


def test_a_parquet_file_without_rows_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="has no row"):
        load(tmp_path, "a.parquet", parquet_of(source=pa.array([], pa.int64()), target=pa.array([], pa.int64())))


@pytest.mark.parametrize("extension", [".txt", ".csv", ".tsv", ".wel"])
def test_a_list_written_here_is_read_back_whatever_its_first_line(tmp_path: Path, extension: str) -> None:
    for heads, weight in ((2, 7), (1, 7), (4, 2), (3, 2)):
        graph = directed(9, [(3, heads, weight), (4, 1, 1), (5, 1, 1)])
        save_file(graph, tmp_path / f"a{extension}")
        back = gpugraph.load(tmp_path / f"a{extension}", directed=True)
        assert edges(back) == edges(graph)


@pytest.mark.parametrize(("text", "line"), [("u,v,w\n#9,#9,0\n+1,+1,0\n", 2), ("u,v,w\n1,2,3\n\n#2,3,4\n", 4)])
def test_a_comment_that_may_be_a_row_is_named(tmp_path: Path, text: str, line: int) -> None:
    path = tmp_path / "g.csv"
    path.write_text(text)
    notes = gpugraph.load(path).notes
    assert f"line {line} has as many fields as a row, and is taken for a comment, as others like it" in notes
