//! EPUB books.

use super::{
    Cases,
    defect::{CLIMB, KEY, ORDER},
    documents::{Package, add},
};

const OPF: &str = "a.opf";
const PAGE: &str = "a.xhtml";

fn book(page: &str) -> Package {
    Package::new(&[
        ("mimetype", "application/epub+zip"),
        (
            "META-INF/container.xml",
            "<container><rootfiles><rootfile full-path=\"a.opf\" media-type=\"application/oebps-package+xml\"/></rootfiles></container>",
        ),
        (
            OPF,
            "<package><metadata><dc:title xmlns:dc=\"d\">Book</dc:title></metadata><manifest><item id=\"a\" href=\"a.xhtml\" media-type=\"application/xhtml+xml\"/></manifest><spine><itemref idref=\"a\"/></spine></package>",
        ),
        (PAGE, &format!("<html xmlns=\"http://www.w3.org/1999/xhtml\"><body>{page}</body></html>")),
    ])
}

pub(super) fn make(cases: &mut Cases) {
    let base = || book("<p>Plain words.</p>");
    let titled = |title: &str| base().swap(OPF, ">Book<", &format!(">{title}<"));
    let rows = vec![
        ("honest-made", "nothing is wrong", base()),
        ("type-missing", "the type is missing", base().without("mimetype")),
        (
            "type-of-another-kind",
            "the type says it is a document",
            base().with("mimetype", "application/vnd.oasis.opendocument.text"),
        ),
        ("type-with-a-line-end", "the type ends in a line end", base().with("mimetype", "application/epub+zip\n")),
        ("container-empty", "the container has no bytes", base().with("META-INF/container.xml", "")),
        ("container-leads-nowhere", "the container names a package that is not there", base().without(OPF)),
        (
            "container-climbs-out",
            "the container names a package outside the book",
            base().swap("META-INF/container.xml", "a.opf", CLIMB),
        ),
        (
            "container-with-entity",
            "the container reads a file of the reader",
            base().with(
                "META-INF/container.xml",
                "<!DOCTYPE a [<!ENTITY b SYSTEM \"file:///etc/passwd\">]><container>&b;</container>",
            ),
        ),
        ("package-ends-early", "the package ends inside an element", base().with(OPF, "<package><manifest>")),
        ("item-missing", "the package names a page that is not there", base().without(PAGE)),
        (
            "item-twice",
            "two items have one name",
            base().swap(
                OPF,
                "</manifest>",
                "<item id=\"a\" href=\"b.xhtml\" media-type=\"application/xhtml+xml\"/></manifest>",
            ),
        ),
        ("spine-of-nothing", "the order of pages names none", base().swap(OPF, "idref=\"a\"", "idref=\"gone\"")),
        ("attack-in-title", "the title is an order", titled(ORDER)),
        ("key-in-title", "the title is a key", titled(KEY)),
        (
            "attack-in-contents",
            "the list of contents is an order",
            base().with(
                "toc.ncx",
                &format!("<ncx><navMap><navPoint><navLabel><text>{ORDER}</text></navLabel></navPoint></navMap></ncx>"),
            ),
        ),
        ("script-in-page", "a page runs a script", book("<script>go()</script>")),
        ("handler-in-page", "a page has a handler", book("<p onclick=\"go()\">a</p>")),
        ("picture-from-elsewhere", "a page fetches a picture", book("<img src=\"https://host.example/a.png\"/>")),
        (
            "form-in-page",
            "a page sends a form away",
            book("<form action=\"https://host.example/\"><input name=\"a\"/></form>"),
        ),
        ("page-ends-early", "a page ends inside an element", base().with(PAGE, "<html><body><p>words")),
        ("page-called-style", "a script under the name of a style", base().with("style.css", "<script>go()</script>")),
        (
            "style-from-elsewhere",
            "a style fetches another",
            base().with("style.css", "@import url(https://host.example/a.css);"),
        ),
        ("part-climbs-out", "a part has a name that leads out", base().with(CLIMB, "words")),
        (
            "rights-unknown",
            "the rights are managed in a way that nobody knows",
            base().with("META-INF/rights.xml", "<rights/>"),
        ),
        ("signed-by-nobody", "a signature without a key", base().with("META-INF/signatures.xml", "<signatures/>")),
    ];
    add(cases, "epub", "epub", rows);
}
