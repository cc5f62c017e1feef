//! Files of models and arrays: GGUF, safetensors, NumPy, pickle, HDF5.

use super::{
    Cases,
    build::{
        Build,
        Means::{Count, Kind as Choice, Length, Offset},
        Style,
    },
    defect::{Kind, ORDER},
};

const GGUF: Kind = Kind::new("gguf", "gguf", gguf);
const SAFETENSORS: Kind = Kind::new("safetensors", "safetensors", safetensors);
const NPY: Kind = Kind::new("npy", "npy", npy);
const PICKLE: Kind = Kind::new("pickle", "pkl", pickle).loud();
const HDF5: Kind = Kind::new("hdf5", "h5", hdf5);

pub(super) fn make(cases: &mut Cases) {
    for kind in [GGUF, SAFETENSORS, NPY, PICKLE, HDF5] {
        kind.make(cases);
    }
    headers(cases);
    codes(cases);
}

/// A text of GGUF: its length, then its bytes.
fn text(b: &mut Build, name: &'static str, length: &'static str, honest: &str) {
    let says = b.says(name, honest);
    b.le(length, Length, 8, says.len());
    b.raw(says);
}

fn gguf(b: &mut Build) {
    b.part("head");
    b.raw(b"GGUF");
    b.le("version", Choice, 4, 3);
    b.le("tensors", Count, 8, 1);
    b.le("keys", Count, 8, 3);
    b.part("text key");
    text(b, "key", "key length", "general.name");
    b.le("type of the key", Choice, 4, 8);
    text(b, "name of the model", "value length", "a small model");
    b.part("list key");
    b.le("name length of the list", Length, 8, 1);
    b.raw(b"t");
    b.raw([9, 0, 0, 0]);
    b.le("type of the list", Choice, 4, 4);
    b.le("items of the list", Count, 8, 2);
    b.zeros(8);
    b.part("template key");
    b.raw(23_u64.to_le_bytes());
    b.raw(b"tokenizer.chat_template");
    b.raw([8, 0, 0, 0]);
    text(b, "chat template", "template length", "{{ messages[0].content }}");
    b.part("tensor");
    text(b, "name of the tensor", "name length of the tensor", "w");
    b.le("sides", Count, 4, 1);
    b.le("side", Count, 8, 4);
    b.le("type of the tensor", Choice, 4, 0);
    b.le("place of the tensor", Offset, 8, 0);
    b.align(32);
    b.part("numbers");
    b.zeros(32);
}

fn safetensors(b: &mut Build) {
    let says = b.says("format", "pt");
    let name = b.says("name of the tensor", "a");
    let header =
        [&b"{\"__metadata__\":{\"format\":\""[..], &says, b"\"},\"", &name, b"\":{\"dtype\":\"F32\",\"shape\":["]
            .concat();
    b.part("length");
    let length = b.hole("header length", Length, 8, Style::Little);
    b.part("header");
    b.raw(header);
    digit(b, "side", Count, 2);
    b.raw(b"],\"data_offsets\":[");
    digit(b, "begin of the tensor", Offset, 0);
    b.raw(b",");
    digit(b, "end of the tensor", Offset, 8);
    b.raw(b"]}}");
    b.fill(length, b.at() - 8);
    b.part("numbers");
    b.zeros(8);
}

fn digit(b: &mut Build, name: &'static str, means: super::build::Means, value: usize) {
    let hole = b.hole(name, means, 1, Style::Decimal);
    b.fill(hole, value);
}

fn npy(b: &mut Build) {
    b.part("head");
    b.raw(b"\x93NUMPY");
    b.le("major version", Choice, 1, 1);
    b.le("minor version", Choice, 1, 0);
    b.le("header length", Length, 2, 62);
    b.part("header");
    let from = b.at();
    let kind = b.says("type of the numbers", "<f8");
    b.raw([b"{'descr': '", &kind[..], b"', 'fortran_order': False, 'shape': ("].concat());
    digit(b, "side", Count, 2);
    b.raw(b",), }");
    b.bytes.resize((from + 61).max(b.at()), b' ');
    b.raw(b"\n");
    b.part("numbers");
    b.zeros(16);
}

fn pickle(b: &mut Build) {
    b.part("protocol");
    b.raw([0x80]);
    b.le("version", Choice, 1, 4);
    b.part("frame");
    b.raw([0x95]);
    let frame = b.hole("frame length", Length, 8, Style::Little);
    let from = b.at();
    b.raw([b']', 0x94, b'(']);
    b.part("short text");
    b.raw([0x8c]);
    let says = b.says("text", "the same words");
    b.le("text length", Length, 1, says.len());
    b.raw(says);
    b.raw([0x94]);
    b.part("long text");
    b.raw([b'X']);
    let says = b.says("long text", "more words");
    b.le("long text length", Length, 4, says.len());
    b.raw(says);
    b.part("bytes");
    b.raw([b'C']);
    b.le("bytes length", Length, 1, 4);
    b.raw([1, 2, 3, 4]);
    b.part("number");
    b.raw([0x8a]);
    b.le("number length", Length, 1, 2);
    b.raw([1, 2]);
    b.part("memory");
    b.raw([b'h']);
    b.le("place in memory", Offset, 1, 1);
    b.part("end");
    b.raw(b"e.");
    b.fill(frame, b.at() - from);
}

fn hdf5(b: &mut Build) {
    b.part("superblock");
    b.raw(b"\x89HDF\r\n\x1a\n");
    b.le("superblock version", Choice, 1, 2);
    b.le("size of places", Choice, 1, 8);
    b.le("size of lengths", Choice, 1, 8);
    b.raw([0]);
    b.le("base", Offset, 8, 0);
    b.raw([0xff; 8]);
    let end = b.hole("end of the file", Offset, 8, Style::Little);
    let root = b.hole("place of the root", Offset, 8, Style::Little);
    b.zeros(4);
    b.part("root");
    b.fill(root, b.at());
    b.raw(b"OHDR");
    b.le("header version", Choice, 1, 2);
    b.raw([1]);
    let length = b.hole("header length", Length, 2, Style::Little);
    let from = b.at();
    b.part("link");
    let name = b.says("link", "x");
    let path = b.says("path of the link", "/x");
    b.le("message type", Choice, 1, 6);
    b.le("message length", Length, 2, 5 + name.len() + path.len());
    b.raw([0, 1, 8]);
    b.le("type of the link", Choice, 1, 1);
    b.le("name length of the link", Length, 1, name.len());
    b.raw(name);
    b.le("path length of the link", Length, 2, path.len());
    b.raw(path);
    b.fill(length, b.at() - from);
    b.part("sum");
    b.zeros(4);
    b.fill(end, b.at());
}

fn headers(cases: &mut Cases) {
    let tensors =
        |json: &str, data: usize| [&(json.len() as u64).to_le_bytes()[..], json.as_bytes(), &vec![0; data]].concat();
    let one = |what: &str| format!("{{\"a\":{{{what}}}}}");
    let rows: Vec<(&str, &str, Vec<u8>)> = vec![
        ("header-is-a-list", "the header is a list", tensors("[1]", 0)),
        ("header-is-no-json", "the header is no JSON", tensors("{a:1}", 0)),
        ("header-of-nothing", "the header has no bytes", tensors("", 0)),
        ("header-of-blanks", "the header is blanks", tensors("        ", 0)),
        ("header-deep", "the header is two hundred lists deep", tensors(&("[".repeat(200) + &"]".repeat(200)), 0)),
        ("tensor-without-type", "a tensor has no type", tensors(&one("\"shape\":[2],\"data_offsets\":[0,8]"), 8)),
        ("tensor-without-place", "a tensor stands nowhere", tensors(&one("\"dtype\":\"F32\",\"shape\":[2]"), 8)),
        (
            "tensor-of-no-type",
            "a tensor has a type that there is not",
            tensors(&one("\"dtype\":\"Z9\",\"shape\":[2],\"data_offsets\":[0,8]"), 8),
        ),
        (
            "tensor-ends-before-it-begins",
            "a tensor ends before it begins",
            tensors(&one("\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[8,0]"), 8),
        ),
        (
            "tensor-side-below-zero",
            "a side of a tensor is below nought",
            tensors(&one("\"dtype\":\"F32\",\"shape\":[-2],\"data_offsets\":[0,8]"), 8),
        ),
        (
            "tensor-sides-overflow",
            "the sides of a tensor are more than a number holds",
            tensors(&one("\"dtype\":\"F32\",\"shape\":[4294967296,4294967296,2],\"data_offsets\":[0,8]"), 8),
        ),
        (
            "tensor-side-is-a-word",
            "a side of a tensor is a word",
            tensors(&one("\"dtype\":\"F32\",\"shape\":[\"2\"],\"data_offsets\":[0,8]"), 8),
        ),
        (
            "tensor-with-more-keys",
            "a tensor says more than it may",
            tensors(&one(&format!("\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8],\"note\":\"{ORDER}\"")), 8),
        ),
        ("metadata-is-a-number", "the metadata are a number", tensors("{\"__metadata__\":7}", 0)),
        ("metadata-nested", "the metadata hold more than texts", tensors("{\"__metadata__\":{\"a\":{\"b\":1}}}", 0)),
        ("honest-of-nothing", "there is no tensor", tensors("{}      ", 0)),
    ];
    for (name, why, bytes) in rows {
        SAFETENSORS.add(cases, name, why, &bytes, &[]);
    }
    let array = |header: &str, data: usize| {
        [
            b"\x93NUMPY\x01\0",
            &u16::try_from(header.len()).unwrap_or_default().to_le_bytes()[..],
            header.as_bytes(),
            &vec![0; data],
        ]
        .concat()
    };
    let rows: Vec<(&str, &str, Vec<u8>)> = vec![
        ("header-of-nothing", "the header has no bytes", array("", 0)),
        ("header-without-shape", "the header gives no sides", array("{'descr': '<f8', 'fortran_order': False, }\n", 8)),
        (
            "header-key-twice",
            "the header says the sides twice",
            array("{'descr': '<f8', 'fortran_order': False, 'shape': (1,), 'shape': (2,), }\n", 8),
        ),
        (
            "header-with-more-keys",
            "the header says more than it may",
            array(&format!("{{'descr': '<f8', 'fortran_order': False, 'shape': (1,), 'note': '{ORDER}', }}\n"), 8),
        ),
        (
            "header-never-closes",
            "the header opens brackets and closes none",
            array(&format!("{{'descr': {}\n", "[".repeat(200)), 8),
        ),
        (
            "shape-below-zero",
            "a side is below nought",
            array("{'descr': '<f8', 'fortran_order': False, 'shape': (-1,), }\n", 8),
        ),
        (
            "shape-overflows",
            "the sides are more than a number holds",
            array("{'descr': '<f8', 'fortran_order': False, 'shape': (4294967296, 4294967296, 2), }\n", 8),
        ),
        (
            "type-of-no-meaning",
            "the numbers have a type that there is not",
            array("{'descr': '<q9', 'fortran_order': False, 'shape': (1,), }\n", 8),
        ),
        (
            "type-of-void",
            "the numbers are of no bytes",
            array("{'descr': '|V0', 'fortran_order': False, 'shape': (1,), }\n", 0),
        ),
        (
            "texts-that-attack",
            "an array of texts is an order",
            [array("{'descr': '|S60', 'fortran_order': False, 'shape': (1,), }\n", 0), ORDER.as_bytes().to_vec()]
                .concat(),
        ),
        (
            "honest-second-version",
            "the header is of the second version",
            [
                b"\x93NUMPY\x02\0",
                &60_u32.to_le_bytes()[..],
                b"{'descr': '<f8', 'fortran_order': False, 'shape': (1,), }  \n",
                &[0; 8],
            ]
            .concat(),
        ),
    ];
    for (name, why, bytes) in rows {
        NPY.add(cases, name, why, &bytes, &[]);
    }
}

fn codes(cases: &mut Cases) {
    let call = |module: &str, name: &str, argument: &str| format!("c{module}\n{name}\n(V{argument}\ntR.").into_bytes();
    let rows: Vec<(&str, &str, Vec<u8>)> = vec![
        ("calls-eval", "the stream calls eval", call("builtins", "eval", "1")),
        ("calls-old-eval", "the stream calls eval under its name of Python 2", call("__builtin__", "eval", "1")),
        (
            "calls-a-shell-by-its-module",
            "the stream calls the shell of the system's module",
            call("posix", "system", "id"),
        ),
        ("calls-a-shell-of-windows", "the stream calls the shell of Windows", call("nt", "system", "dir")),
        ("calls-subprocess", "the stream starts a program", call("subprocess", "Popen", "id")),
        ("calls-a-socket", "the stream opens a connection", call("socket", "create_connection", "a")),
        ("calls-a-loader", "the stream loads another stream", call("pickle", "loads", "a")),
        ("calls-import", "the stream imports a module", call("importlib", "import_module", "os")),
        ("calls-a-debugger", "the stream starts a debugger", call("pdb", "run", "a")),
        ("calls-a-timer", "the stream times code", call("timeit", "timeit", "a")),
        ("calls-pip", "the stream installs a package", call("pip", "main", "install")),
        ("calls-get-attribute", "the stream asks for an attribute", call("operator", "attrgetter", "system")),
        (
            "calls-by-dots",
            "the stream reaches through a name with dots",
            b"\x80\x04\x8c\x07collect\x8c\x0dabc.os.system\x93.".to_vec(),
        ),
        (
            "name-with-line",
            "a module has a line break in its name",
            b"\x80\x04\x8c\x04o\ns.\x8c\x06system\x93.".to_vec(),
        ),
        ("opcode-of-no-meaning", "a byte that is no opcode", b"\x80\x04\xffN.".to_vec()),
        ("protocol-of-tomorrow", "a protocol that there is not yet", b"\x80\x09N.".to_vec()),
        ("protocol-twice", "the protocol is said twice, in the middle again", b"\x80\x02(\x80\x04t.".to_vec()),
        ("stops-with-two-values", "two values are left at the end", b"NN.".to_vec()),
        ("stops-with-nothing", "no value is left at the end", b".".to_vec()),
        ("mark-missing", "a list ends that nobody began", b"Nt.".to_vec()),
        ("memory-of-nothing", "a value is fetched that nobody kept", b"g99\n.".to_vec()),
        ("memory-number-below-zero", "a value is kept under a number below nought", b"Np-1\n.".to_vec()),
        ("memory-number-huge", "a value is kept under four thousand million", b"Nr\xff\xff\xff\xff.".to_vec()),
        ("number-is-a-word", "a number is a word", b"Iword\n.".to_vec()),
        ("number-of-many-digits", "a number has a thousand digits", format!("L{}L\n.", "9".repeat(1000)).into_bytes()),
        ("text-never-ends", "a text has no end of its line", b"Vnever ends".to_vec()),
        ("text-with-wrong-escape", "a text has an escape that is none", b"S'\\xzz'\n.".to_vec()),
        ("text-without-quotes", "a text has no quotes", b"Sword\n.".to_vec()),
        ("text-not-utf8", "a text is no UTF-8", b"\x80\x04\x8c\x02\xff\xfe.".to_vec()),
        ("dictionary-of-odd-values", "a dictionary has a key without a value", b"(V1\nd.".to_vec()),
        ("buffer-from-outside", "a value that stands outside the stream", b"\x80\x05\x97.".to_vec()),
        (
            "lists-300-deep",
            "lists in lists, three hundred deep",
            [b"]".repeat(300), b"a".repeat(299), b".".to_vec()].concat(),
        ),
        (
            "builds-an-object-by-state",
            "an object is built from a state of its own",
            b"ccollections\nOrderedDict\n)R}V__class__\nccollections\nCounter\nsb.".to_vec(),
        ),
    ];
    for (name, why, bytes) in rows {
        PICKLE.add(cases, name, why, &bytes, &[]);
    }
}
