"""What independent readers make of a file: something that can be compared, or an exception when they cannot open it."""
import io
import warnings
import zipfile

warnings.filterwarnings("ignore")


def picture(data):
    from PIL import Image

    Image.MAX_IMAGE_PIXELS = 50_000_000
    frames = []
    with Image.open(io.BytesIO(data)) as image:
        for index in range(min(getattr(image, "n_frames", 1), 50)):
            image.seek(index)
            frames.append((image.size, image.convert("RGBA").tobytes()))
    return frames


def pdf(data):
    from pypdf import PdfReader

    return [page.extract_text() for page in PdfReader(io.BytesIO(data)).pages]


def docx(data):
    from docx import Document

    document = Document(io.BytesIO(data))
    cells = [cell.text for table in document.tables for row in table.rows for cell in row.cells]
    return [paragraph.text for paragraph in document.paragraphs], cells


def xlsx(data):
    from openpyxl import load_workbook

    book = load_workbook(io.BytesIO(data), data_only=True)
    return {sheet.title: [[cell for cell in row] for row in sheet.iter_rows(values_only=True)] for sheet in book.worksheets}


def pptx(data):
    from pptx import Presentation

    slides = Presentation(io.BytesIO(data)).slides
    return [[shape.text_frame.text for shape in slide.shapes if shape.has_text_frame] for slide in slides]


def notebook(data):
    import nbformat

    book = nbformat.reads(data.decode("utf-8"), as_version=4)
    nbformat.validate(book)
    # Markdown is shown as a page: markup in it that acts is taken out of it.
    return [cell.source for cell in book.cells if cell.cell_type == "code"]


def archive(data):
    with zipfile.ZipFile(io.BytesIO(data)) as members:
        if members.testzip() is not None:
            raise ValueError("a member does not match its checksum")
        return sorted(info.filename for info in members.infolist() if not info.is_dir())


# By the scanner's own label: how it is opened, and whether what is read must be the same as before. What a release has to
# take out of texts and archives makes them differ; a picture never has to.
READERS = {
    **{label: (picture, True) for label in ("png", "jpeg", "gif", "webp", "bmp", "tiff", "ico")},
    "pdf": (pdf, True),
    "docx": (docx, True),
    "xlsx": (xlsx, True),
    "pptx": (pptx, True),
    "ipynb": (notebook, True),
    "zip": (archive, False),
}
