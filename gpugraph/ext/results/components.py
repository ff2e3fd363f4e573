"""Files of components."""

from gpugraph.ext.components.labels import Components
from gpugraph.ext.results.vertex_files import FileColumn, VertexFiles


class ComponentsFiles(VertexFiles):
    """Components written and read."""

    name = "components"
    noun = "components"
    result = Components
    file_columns = (FileColumn("component", "labels", vertices=True),)


FILES = ComponentsFiles()
