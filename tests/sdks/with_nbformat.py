"""nbformat: notebooks with every kind of output, of every minor version that has one; checked by its schema."""

import json

import nbformat
from nbformat import v4

from fill import PNG
from payload import Payload, Reader

SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><rect width="9" height="9"/></svg>'
BUNDLE = {
    "text/plain": "<Figure size 640x480>", "text/markdown": "**42** rows", "text/latex": "$42$", "image/png": PNG + "\n",
    "application/json": {"rows": [{"name": "a row"}]}, "application/vnd.vendor.view+json": {"title": "a title"},
}


def as_notebook(data):
    nbformat.validate(nbformat.reads(data.decode(), as_version=4), relax_add_props=False)


def outputs():
    yield "stream stdout", v4.new_output("stream", name="stdout", text="42 rows\nread\n")
    yield "stream stderr", v4.new_output("stream", name="stderr", text="a warning\n")
    yield "display_data", v4.new_output("display_data", data=BUNDLE, metadata={"image/png": {"alt": "a chart"}})
    yield "execute_result", v4.new_output("execute_result", data=BUNDLE, execution_count=1, metadata={"note": "a note"})
    frames = ["Traceback (most recent call last)", "KeyError: 0"]
    yield "error", v4.new_output("error", ename="KeyError", evalue="the key 0", traceback=frames)


def notebook(own, minor=5):
    cells = [
        v4.new_markdown_cell("# A report\n\nof rows", attachments={"chart.png": {"image/png": PNG}}),
        v4.new_raw_cell("raw text"),
        v4.new_code_cell("read()\nprint('rows')", outputs=own, execution_count=1, metadata={"tags": ["a-tag"], "name": "a cell"}),
    ]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    made = v4.new_notebook(cells=cells, metadata={"kernelspec": kernel, "title": "a title", "authors": [{"name": "an author"}]})
    made.nbformat_minor = minor
    for number, cell in enumerate(cells):
        cell.id = f"cell-{number}"
        if minor < 5:
            del cell["id"]
    return made


def payloads():
    # Lines of text are lists of strings as the package writes them, and strings as others do.
    for split in (True, False):
        for name, output in outputs():
            data = v4.writes(notebook([output]), split_lines=split)
            status = "failed" if name == "error" else "ok"
            yield Payload("nbformat", f"{name}, {'split' if split else 'whole'}", data.encode(), "jupyter", status, as_notebook)
    every = [output for _, output in outputs()]
    for minor in range(5):
        data = v4.writes(notebook(every, minor)).encode()
        yield Payload("nbformat", f"4.{minor}", data, "jupyter", "failed", as_notebook, inside=("cells", 2))
    drawn = v4.new_output("display_data", data={"image/svg+xml": SVG, "text/plain": "a drawing"})
    data = json.dumps(notebook([drawn])).encode()
    # Behind its end a drawing has no text: with one it is none any more, and nothing makes it one again.
    marks = frozenset({("cells", 2, "outputs", 0, "data", "image/svg+xml")})
    yield Payload("nbformat", "a drawing", data, "jupyter", "ok", as_notebook, marks=marks)


def readers():
    return [Reader("validate", "jupyter", as_notebook)]
