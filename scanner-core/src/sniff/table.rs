//! The one table of types.
//!
//! Media types, aliases and extensions are facts: registered ones from IANA's media type registry, the others as the
//! freedesktop.org shared MIME database and the projects that own the formats use them.

use super::{
    Risk::{Active, Container, Executable, Inert, Unknown},
    Type,
};

/// Every type the sniffer can name.
pub fn types() -> &'static [Type] {
    TYPES
}

/// The type of that label.
///
/// ```
/// use scanner_core::type_of;
/// assert_eq!(type_of("png").map(|kind| kind.mime), Some("image/png"));
/// assert!(type_of("png2").is_none());
/// ```
pub fn type_of(label: &str) -> Option<&'static Type> {
    TYPES.iter().find(|kind| kind.label == label)
}

/// What nobody knows.
pub(super) const UNKNOWN: Type =
    bytes("unknown", "application/octet-stream", Unknown, &["bin", "dat", "data", "joblib"], &["application/x-data"]);

/// The type of a label that this crate's own code names.
pub(super) fn named(label: &str) -> &'static Type {
    let found = type_of(label);
    debug_assert!(found.is_some(), "no type {label}");
    found.unwrap_or(&UNKNOWN)
}

type Words = &'static [&'static str];

const fn bytes(label: &'static str, mime: &'static str, risk: super::Risk, extensions: Words, aliases: Words) -> Type {
    Type { label, mime, aliases, extensions, risk, is_text: false }
}

const fn text(label: &'static str, mime: &'static str, risk: super::Risk, extensions: Words, aliases: Words) -> Type {
    Type { label, mime, aliases, extensions, risk, is_text: true }
}

#[rustfmt::skip] // one row, one line
static TYPES: &[Type] = &[
    // Pictures.
    bytes("png", "image/png", Inert, &["png", "apng"], &["image/apng", "image/vnd.mozilla.apng"]),
    bytes("jpeg", "image/jpeg", Inert, &["jpg", "jpeg", "jpe", "jfif", "jif", "jfi", "thm"], &["image/jpg", "image/pjpeg"]),
    bytes("gif", "image/gif", Inert, &["gif"], &[]),
    bytes("webp", "image/webp", Inert, &["webp"], &[]),
    bytes("bmp", "image/bmp", Inert, &["bmp", "dib", "rle"], &["image/vnd.microsoft.bmp", "image/x-bmp", "image/x-ms-bmp"]),
    bytes("tiff", "image/tiff", Inert, &["tif", "tiff", "btf", "tf8", "dng", "nef", "cr2", "arw", "pef"], &["image/bigtiff", "image/tif", "image/tiff-fx", "image/x-tiff"]),
    bytes("ico", "image/vnd.microsoft.icon", Inert, &["ico"], &["image/ico", "image/x-ico", "image/x-icon"]),
    bytes("cur", "image/x-win-bitmap", Inert, &["cur"], &["application/x-win-cursor", "image/vnd.microsoft.cursor", "image/vnd.microsoft.icon", "image/x-icon", "image/x-win-cursor"]),
    bytes("avif", "image/avif", Inert, &["avif", "avifs"], &["image/avif-sequence"]),
    bytes("heic", "image/heic", Inert, &["heic", "heif", "hif", "heics", "heifs"], &["image/heic-sequence", "image/heif", "image/heif-sequence"]),
    bytes("psd", "image/vnd.adobe.photoshop", Inert, &["psd", "psb"], &["application/x-photoshop", "application/x-photoshop-large", "image/photoshop", "image/x-psd"]),
    bytes("jxl", "image/jxl", Inert, &["jxl"], &[]),
    bytes("jp2", "image/jp2", Inert, &["jp2", "j2k", "jpf", "jpx", "jpm", "jpc", "j2c", "mj2", "jph", "jhc"], &["image/j2c", "image/jpeg2000", "image/jpm", "image/jpx", "image/mj2", "image/x-jp2", "image/x-jp2-codestream", "image/x-jpeg2000-codestream", "video/mj2"]),
    bytes("qoi", "image/qoi", Inert, &["qoi"], &["image/x-qoi"]),
    bytes("tga", "image/x-tga", Inert, &["tga", "icb", "vda", "vst"], &["image/tga", "image/x-targa"]),
    bytes("dds", "image/vnd-ms.dds", Inert, &["dds"], &["image/vnd.ms-dds", "image/x-dds", "image/x-direct-draw-surface"]),
    bytes("icns", "image/icns", Inert, &["icns"], &["image/x-icns", "image/x-icon-mac"]),
    bytes("netpbm", "image/x-portable-anymap", Inert, &["pnm", "pbm", "pgm", "ppm", "pam", "pfm"], &["image/x-portable-arbitrarymap", "image/x-portable-bitmap", "image/x-portable-graymap", "image/x-portable-greymap", "image/x-portable-pixmap"]),
    bytes("exr", "image/x-exr", Inert, &["exr"], &["image/aces", "image/exr"]),
    text("svg", "image/svg+xml", Active, &["svg"], &["image/svg"]),
    // Documents.
    bytes("pdf", "application/pdf", Active, &["pdf", "ai", "fdf"], &["application/x-pdf"]),
    text("ps", "application/postscript", Active, &["ps", "eps", "epsf", "epsi", "ai"], &["application/eps", "application/x-eps", "image/x-eps", "text/x-postscript"]),
    bytes("docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document", Container, &["docx", "docm", "dotx", "dotm"], &["application/vnd.ms-word.document.macroenabled.12"]),
    bytes("xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", Container, &["xlsx", "xlsm", "xlsb", "xltx", "xltm", "xlam"], &["application/vnd.ms-excel.sheet.binary.macroenabled.12", "application/vnd.ms-excel.sheet.macroenabled.12"]),
    bytes("pptx", "application/vnd.openxmlformats-officedocument.presentationml.presentation", Container, &["pptx", "pptm", "ppsx", "ppsm", "potx", "potm", "ppam", "sldx"], &["application/vnd.ms-powerpoint.presentation.macroenabled.12", "application/vnd.openxmlformats-officedocument.presentationml.slideshow"]),
    bytes("odt", "application/vnd.oasis.opendocument.text", Container, &["odt", "ott"], &["application/vnd.oasis.opendocument.text-template"]),
    bytes("ods", "application/vnd.oasis.opendocument.spreadsheet", Container, &["ods", "ots"], &["application/vnd.oasis.opendocument.spreadsheet-template"]),
    bytes("odp", "application/vnd.oasis.opendocument.presentation", Container, &["odp", "otp"], &["application/vnd.oasis.opendocument.presentation-template"]),
    bytes("epub", "application/epub+zip", Container, &["epub"], &[]),
    // Programs and models in a zip.
    bytes("jar", "application/java-archive", Executable, &["jar", "war", "ear", "aar", "sar"], &["application/x-jar", "application/x-java-archive"]),
    bytes("apk", "application/vnd.android.package-archive", Executable, &["apk", "xapk"], &[]),
    bytes("npz", "application/x-npz", Container, &["npz"], &[]),
    bytes("whl", "application/x-wheel+zip", Executable, &["whl"], &[]),
    bytes("pytorch", "application/x-pytorch", Executable, &["pt", "pth", "ckpt", "bin", "model", "mar", "ptl", "pt2"], &[]),
    bytes("keras", "application/x-keras", Executable, &["keras"], &[]),
    bytes("zip", "application/zip", Container, &["zip", "cbz", "xpi", "crx", "kmz", "nupkg", "vsix", "ipa", "egg", "pyz", "zipx", "3mf", "usdz", "xps", "oxps", "vsdx", "odg", "odf", "odb", "twbx", "pkpass", "mcpack"], &["application/x-zip", "application/x-zip-compressed"]),
    // OLE documents.
    bytes("doc", "application/msword", Container, &["doc", "dot", "wiz"], &[]),
    bytes("xls", "application/vnd.ms-excel", Container, &["xls", "xlt", "xla", "xlm"], &["application/msexcel"]),
    bytes("ppt", "application/vnd.ms-powerpoint", Container, &["ppt", "pps", "pot"], &["application/mspowerpoint"]),
    bytes("msg", "application/vnd.ms-outlook", Container, &["msg"], &["application/x-ms-msg"]),
    bytes("msi", "application/x-msi", Executable, &["msi", "msp", "mst"], &["application/x-ms-installer", "application/x-msinstaller", "application/x-windows-installer"]),
    bytes("ole", "application/x-ole-storage", Container, &["doc", "xls", "ppt", "msg", "msi", "vsd", "mpp", "docx", "docm", "xlsx", "xlsm", "xlsb", "pptx", "pptm"], &["application/x-cfb", "application/cdfv2", "application/x-ole2"]),
    bytes("onenote", "application/onenote", Container, &["one", "onetoc2"], &["application/msonenote"]),
    bytes("rtf", "application/rtf", Container, &["rtf", "doc"], &["text/rtf"]),
    // Archives and compressed data.
    bytes("tar", "application/x-tar", Container, &["tar", "gtar", "ova", "gem"], &["application/tar", "application/x-gtar", "application/x-ustar"]),
    bytes("gzip", "application/gzip", Container, &["gz", "tgz", "gzip", "svgz", "emz", "wmz", "rds", "rdata", "taz", "joblib"], &["application/x-compressed-tar", "application/x-gzip", "application/x-tgz"]),
    bytes("zlib", "application/zlib", Container, &["zlib", "zz", "z", "joblib"], &["application/x-zlib"]),
    bytes("bzip2", "application/x-bzip2", Container, &["bz2", "tbz", "tbz2", "bz", "joblib"], &["application/bzip2", "application/x-bz2", "application/x-bzip", "application/x-bzip-compressed-tar"]),
    bytes("xz", "application/x-xz", Container, &["xz", "txz", "joblib"], &["application/x-xz-compressed-tar", "application/xz"]),
    bytes("lzma", "application/x-lzma", Container, &["lzma", "tlz", "joblib"], &["application/lzma"]),
    bytes("zstd", "application/zstd", Container, &["zst", "zstd", "tzst"], &["application/x-zstandard", "application/x-zstd", "application/x-zstd-compressed-tar"]),
    bytes("lz4", "application/x-lz4", Container, &["lz4", "joblib"], &["application/lz4"]),
    bytes("7z", "application/x-7z-compressed", Container, &["7z", "cb7"], &["application/x-7zip-compressed"]),
    bytes("rar", "application/vnd.rar", Container, &["rar", "cbr", "r00"], &["application/x-rar", "application/x-rar-compressed"]),
    bytes("cab", "application/vnd.ms-cab-compressed", Container, &["cab"], &["application/cab", "application/x-cab"]),
    bytes("ar", "application/x-archive", Container, &["a", "ar", "deb", "lib", "udeb", "ipk"], &["application/vnd.debian.binary-package", "application/x-ar", "application/x-deb", "application/x-debian-package", "application/x-unix-archive"]),
    bytes("rpm", "application/x-rpm", Executable, &["rpm", "srpm"], &["application/x-redhat-package-manager"]),
    bytes("iso", "application/x-iso9660-image", Container, &["iso", "img"], &["application/vnd.efi.iso", "application/x-cd-image", "application/x-iso-image"]),
    bytes("cpio", "application/x-cpio", Container, &["cpio"], &["application/x-sv4cpio"]),
    // Data.
    bytes("npy", "application/x-npy", Inert, &["npy"], &["application/x-npy-data", "application/x-numpy-data"]),
    bytes("parquet", "application/vnd.apache.parquet", Inert, &["parquet", "pq", "parq"], &["application/x-parquet"]),
    bytes("arrow", "application/vnd.apache.arrow.file", Inert, &["arrow", "feather", "ipc"], &["application/vnd.apache.arrow"]),
    bytes("arrowstream", "application/vnd.apache.arrow.stream", Inert, &["arrows", "arrow", "stream"], &["application/vnd.apache.arrow"]),
    bytes("feather1", "application/x-feather", Inert, &["feather"], &[]),
    bytes("hdf5", "application/x-hdf5", Inert, &["h5", "hdf5", "hdf", "he5", "nc", "nc4", "h5ad", "loom", "keras", "mat"], &["application/hdf5", "application/x-hdf"]),
    bytes("sqlite", "application/vnd.sqlite3", Inert, &["sqlite", "sqlite3", "db", "db3", "s3db", "gpkg", "mbtiles"], &["application/x-sqlite3"]),
    bytes("avro", "application/vnd.apache.avro", Inert, &["avro"], &["application/avro", "application/x-avro", "avro/binary"]),
    bytes("mat", "application/x-matlab-data", Inert, &["mat"], &["application/matlab-mat", "application/x-matlab", "application/x-matlab-mat"]),
    bytes("orc", "application/x-orc", Inert, &["orc"], &["application/vnd.apache.orc"]),
    bytes("netcdf", "application/x-netcdf", Inert, &["nc", "cdf"], &["application/netcdf"]),
    bytes("stata", "application/x-stata-dta", Inert, &["dta"], &["application/x-stata"]),
    bytes("spss", "application/x-spss-sav", Inert, &["sav", "zsav"], &["application/x-spss"]),
    bytes("xport", "application/x-sas-xport", Inert, &["xpt"], &["application/x-sas"]),
    bytes("pickle", "application/x-python-pickle", Executable, &["pkl", "pickle", "p", "pck", "joblib", "pt", "pth", "bin", "sav", "model", "dat", "ckpt"], &["application/python-pickle", "application/x-pickle"]),
    bytes("safetensors", "application/x-safetensors", Inert, &["safetensors"], &["application/safetensors"]),
    bytes("gguf", "application/x-gguf", Inert, &["gguf"], &["application/gguf"]),
    bytes("bplist", "application/x-bplist", Inert, &["plist", "bplist", "strings", "webarchive", "nib"], &["application/x-apple-binary-plist", "application/x-apple-plist", "application/x-plist"]),
    bytes("pcap", "application/vnd.tcpdump.pcap", Inert, &["pcap", "cap", "pcapng", "dmp"], &["application/pcap", "application/x-pcap", "application/x-pcapng"]),
    // Programs.
    bytes("elf", "application/x-elf", Executable, &["elf", "so", "o", "ko", "bin", "out", "axf", "prx", "run", "mod", "puff"], &["application/x-coredump", "application/x-executable", "application/x-executable-elf", "application/x-object", "application/x-pie-executable", "application/x-sharedlib"]),
    bytes("pe", "application/vnd.microsoft.portable-executable", Executable, &["exe", "dll", "sys", "scr", "ocx", "cpl", "efi", "com", "drv", "mui", "ax", "acm", "pyd", "node"], &["application/dos-exe", "application/exe", "application/x-dosexec", "application/x-exe", "application/x-ms-dos-executable", "application/x-ms-ne-executable", "application/x-msdos-program", "application/x-msdownload"]),
    bytes("macho", "application/x-mach-binary", Executable, &["dylib", "macho", "bundle", "o", "so"], &["application/x-mach-o", "application/x-mach-o-executable", "application/x-mach-o-universal", "application/x-macho"]),
    bytes("dex", "application/vnd.android.dex", Executable, &["dex", "odex", "cdex"], &["application/dex", "application/x-android-dex", "application/x-dex"]),
    bytes("class", "application/java-vm", Executable, &["class"], &["application/java", "application/java-byte-code", "application/x-java", "application/x-java-applet", "application/x-java-class", "application/x-java-vm"]),
    bytes("wasm", "application/wasm", Executable, &["wasm"], &["application/x-wasm"]),
    bytes("pyc", "application/x-python-code", Executable, &["pyc", "pyo"], &["application/x-bytecode.python", "application/x-pyc", "application/x-python-bytecode"]),
    bytes("luac", "application/x-lua-bytecode", Executable, &["luac", "lua", "out"], &["application/x-luac"]),
    bytes("chm", "application/vnd.ms-htmlhelp", Executable, &["chm", "chw"], &["application/x-chm"]),
    bytes("swf", "application/vnd.adobe.flash.movie", Executable, &["swf"], &["application/x-shockwave-flash"]),
    bytes("lnk", "application/x-ms-shortcut", Executable, &["lnk"], &["application/x-win-lnk", "application/x.ms.shortcut"]),
    bytes("crx", "application/x-chrome-extension", Executable, &["crx"], &[]),
    bytes("diskimage", "application/x-virtual-disk", Container, &["dmg", "vhd", "vhdx", "vmdk", "qcow2", "qcow", "vdi", "img"], &["application/x-apple-diskimage", "application/x-qemu-disk", "application/x-vhd-disk", "application/x-vhdx-disk", "application/x-virtualbox-vdi", "application/x-vmdk-disk"]),
    // Fonts.
    bytes("ttf", "font/ttf", Inert, &["ttf"], &["application/font-sfnt", "application/x-font-sfnt", "application/x-font-truetype", "application/x-font-ttf", "font/sfnt"]),
    bytes("otf", "font/otf", Inert, &["otf"], &["application/font-sfnt", "application/vnd.ms-opentype", "application/x-font-opentype", "application/x-font-otf", "font/sfnt"]),
    bytes("ttc", "font/collection", Inert, &["ttc", "otc", "ttf"], &["application/x-font-ttf", "font/ttf"]),
    bytes("woff", "font/woff", Inert, &["woff"], &["application/font-woff", "application/x-font-woff"]),
    bytes("woff2", "font/woff2", Inert, &["woff2"], &["application/font-woff2"]),
    // Sound and film.
    bytes("wav", "audio/x-wav", Inert, &["wav", "wave", "rf64", "bwf"], &["audio/vnd.wav", "audio/vnd.wave", "audio/wav", "audio/wave"]),
    bytes("mp3", "audio/mpeg", Inert, &["mp3", "mp2", "mpa", "mp1"], &["application/x-id3v2", "audio/id3", "audio/mp3", "audio/x-mp3"]),
    bytes("flac", "audio/flac", Inert, &["flac"], &["audio/x-flac"]),
    bytes("ogg", "audio/ogg", Inert, &["ogg", "oga", "ogv", "opus", "spx", "ogx", "ogm"], &["application/ogg", "audio/opus", "audio/vorbis", "audio/x-flac+ogg", "audio/x-ogg", "audio/x-opus+ogg", "audio/x-speex", "audio/x-speex+ogg", "audio/x-vorbis+ogg", "video/ogg", "video/x-theora+ogg"]),
    bytes("m4a", "audio/mp4", Inert, &["m4a", "m4b", "m4p", "m4r", "mp4"], &["audio/m4a", "audio/x-m4a", "audio/x-m4b", "video/x-m4v"]),
    bytes("aac", "audio/aac", Inert, &["aac", "adts", "adif"], &["audio/aacp", "audio/x-aac", "audio/x-hx-aac-adts"]),
    bytes("midi", "audio/midi", Inert, &["mid", "midi", "kar", "rmi"], &["audio/mid", "audio/sp-midi", "audio/x-midi"]),
    bytes("aiff", "audio/x-aiff", Inert, &["aif", "aiff", "aifc"], &["audio/aiff", "audio/x-aifc"]),
    bytes("au", "audio/basic", Inert, &["au", "snd"], &["audio/x-au"]),
    bytes("mp4", "video/mp4", Inert, &["mp4", "m4v", "mp4v", "f4v", "m4s"], &["application/mp4", "video/iso.segment", "video/x-m4v"]),
    bytes("mov", "video/quicktime", Inert, &["mov", "qt"], &[]),
    bytes("3gp", "video/3gpp", Inert, &["3gp", "3g2", "3gpp", "3gp2"], &["audio/3gpp", "video/3g2", "video/3gp", "video/3gpp2"]),
    bytes("mkv", "video/x-matroska", Inert, &["mkv", "mka", "mks", "mk3d"], &["application/x-matroska", "audio/matroska", "audio/x-matroska", "video/matroska", "video/matroska-3d"]),
    bytes("webm", "video/webm", Inert, &["webm", "weba"], &["audio/webm"]),
    bytes("avi", "video/x-msvideo", Inert, &["avi"], &["video/avi", "video/vnd.avi"]),
    bytes("flv", "video/x-flv", Inert, &["flv"], &["video/x-javafx"]),
    bytes("mpeg", "video/mpeg", Inert, &["mpg", "mpeg", "m2p", "vob", "mpv", "m1v", "m2v", "mpe", "dat"], &["video/mp1s", "video/mp2p", "video/mpeg-system", "video/mpeg4-generic", "video/mpv"]),
    bytes("mpegts", "video/mp2t", Inert, &["ts", "m2ts", "mts", "m2t"], &[]),
    bytes("asf", "video/x-ms-asf", Inert, &["asf", "wma", "wmv"], &["application/vnd.ms-asf", "audio/x-ms-asf", "audio/x-ms-wma", "video/asf", "video/x-ms-wm", "video/x-ms-wmv"]),
    // Text: markup and data.
    text("html", "text/html", Active, &["html", "htm", "xhtml", "xht", "hta", "shtml", "vue"], &["application/hta", "application/xhtml+xml"]),
    text("mhtml", "multipart/related", Active, &["mhtml", "mht"], &["application/x-mimearchive", "message/rfc822"]),
    text("xml", "application/xml", Active, &["xml", "xsd", "xsl", "xslt", "rss", "atom", "plist", "kml", "gpx", "dae", "rdf", "owl", "xliff", "xlf", "xmp", "wsdl", "pom", "csproj", "vcxproj", "vbproj", "resx", "config", "nuspec", "props", "targets", "xaml", "xul", "dtd", "mathml", "tei", "opf", "ncx", "graphml", "drawio", "fodt", "iml", "ui", "ts", "jnlp", "glade", "sitemap", "musicxml", "twb", "storyboard", "xib"], &["application/atom", "application/atom+xml", "application/gml+xml", "application/gpx+xml", "application/mathml+xml", "application/rdf+xml", "application/rss", "application/rss+xml", "application/soap+xml", "application/vnd.google-earth.kml+xml", "application/vnd.ms-package.3dmanufacturing-3dmodel+xml", "application/wsdl+xml", "application/x-maven-pom", "application/x-nuget-nuspec", "application/x-plist", "application/x-xliff+xml", "application/x-xml", "application/x-xml-plist", "application/x-xslt+xml", "application/xml-dtd", "application/xslt+xml", "application/xspf+xml", "model/vnd.collada+xml", "text/vnd.trolltech.linguist", "text/xml"]),
    text("json", "application/json", Inert, &["json", "geojson", "webmanifest", "map", "har", "topojson", "gltf", "avsc", "jsonld", "jsonc", "json5", "arb", "schema", "lock"], &["application/feed+json", "application/geo+json", "application/har+json", "application/json-seq", "application/ld+json", "application/schema+json", "application/x-json", "model/gltf+json", "text/json"]),
    text("jsonl", "application/x-ndjson", Inert, &["jsonl", "ndjson", "jsonlines", "jl", "ldjson"], &["application/jsonl", "application/jsonlines", "application/ndjson", "application/x-jsonlines"]),
    text("ipynb", "application/x-ipynb+json", Active, &["ipynb"], &["application/x-ipynb"]),
    text("csv", "text/csv", Inert, &["csv", "dat"], &["application/csv", "text/comma-separated-values"]),
    text("tsv", "text/tab-separated-values", Inert, &["tsv", "tab", "dat"], &["text/tsv"]),
    text("markdown", "text/markdown", Active, &["md", "markdown", "mdown", "mkd", "mdx", "rmd", "qmd", "mkdn"], &["text/x-markdown", "text/x-web-markdown"]),
    text("txt", "text/plain", Inert, &["txt", "text", "log", "asc", "out", "readme", "err", "nfo", "lst", "list", "conf", "cfg"], &["text/x-log"]),
    text("log", "text/plain", Inert, &["log", "out", "err", "txt"], &["application/x-log", "text/x-log"]),
    // Text: programs.
    text("python", "text/x-python", Executable, &["py", "pyw", "pyi", "wsgi", "gyp", "pyx", "sage"], &["application/x-python", "text/python", "text/x-python3", "text/x-script.python", "text/x-script.python3"]),
    text("javascript", "text/javascript", Executable, &["js", "mjs", "cjs", "jsx", "es6", "jsm"], &["application/ecmascript", "application/javascript", "application/x-javascript", "text/x-javascript"]),
    text("typescript", "application/typescript", Executable, &["ts", "tsx", "mts", "cts"], &["application/x-typescript", "text/typescript", "text/x-typescript", "text/x.typescript"]),
    text("shell", "text/x-shellscript", Executable, &["sh", "bash", "zsh", "ksh", "command", "fish", "ash", "run", "bats", "ebuild"], &["application/x-sh", "application/x-shar", "application/x-shellscript", "text/x-sh"]),
    text("batch", "application/x-bat", Executable, &["bat", "cmd"], &["application/bat", "application/x-msdos-batch", "text/x-bat", "text/x-batch", "text/x-msdos-batch"]),
    text("powershell", "text/x-powershell", Executable, &["ps1", "psm1", "psd1"], &["application/x-powershell"]),
    text("perl", "text/x-perl", Executable, &["pl", "pm", "t", "cgi", "plx"], &["application/x-perl", "text/x-script.perl"]),
    text("ruby", "text/x-ruby", Executable, &["rb", "rake", "gemspec", "ru", "podspec", "thor"], &["application/x-ruby", "text/x-script.ruby"]),
    text("php", "text/x-php", Executable, &["php", "phtml", "php3", "php4", "php5", "php7", "phps", "inc", "phar"], &["application/php", "application/x-httpd-php", "application/x-php"]),
    text("lua", "text/x-lua", Executable, &["lua"], &["application/x-lua"]),
    text("r", "text/x-r", Executable, &["r", "rscript", "rprofile"], &["text/x-rsource", "text/x-rsrc"]),
    text("sql", "application/sql", Executable, &["sql", "ddl", "dml", "psql", "pgsql", "mysql"], &["application/x-sql", "text/sql", "text/x-sql"]),
    // Text: settings and the rest.
    text("yaml", "application/yaml", Inert, &["yaml", "yml"], &["application/x-yaml", "text/x-yaml", "text/yaml"]),
    text("toml", "application/toml", Inert, &["toml", "ini", "cfg", "conf", "inf", "url"], &["application/x-toml", "text/toml", "text/x-toml"]),
    text("ini", "text/x-ini", Inert, &["ini", "cfg", "conf", "inf", "properties", "desktop", "editorconfig", "gitconfig", "service", "prefs", "url"], &["application/textedit", "application/x-desktop", "application/x-ini", "application/x-wine-extension-ini", "text/ini", "text/x-properties", "zz-application/zz-winassoc-ini"]),
    text("latex", "text/x-tex", Active, &["tex", "latex", "sty", "cls", "ltx", "bbl", "tikz"], &["application/x-latex", "application/x-tex", "text/x-latex"]),
    text("eml", "message/rfc822", Container, &["eml", "mail", "nws"], &["application/mbox", "message/news"]),
    text("mbox", "application/mbox", Container, &["mbox", "mbx"], &["application/x-mbox", "message/rfc822"]),
    text("css", "text/css", Active, &["css"], &[]),
    text("c", "text/x-c", Inert, &["c", "h", "cc", "cpp", "cxx", "hpp", "hh", "hxx", "inl", "ino", "cu", "cuh", "m", "mm", "ipp", "tpp", "c++", "h++", "pde"], &["text/x-c++", "text/x-c++hdr", "text/x-c++src", "text/x-chdr", "text/x-csrc", "text/x-objective-c"]),
    text("java", "text/x-java", Inert, &["java"], &["text/java", "text/x-java-source"]),
    text("rust", "text/rust", Inert, &["rs"], &["application/x-rust", "text/x-rust"]),
    text("go", "text/x-go", Inert, &["go"], &["application/x-go", "text/x-golang"]),
    text("diff", "text/x-diff", Inert, &["diff", "patch"], &["text/x-patch"]),
    text("dockerfile", "text/x-dockerfile", Executable, &["dockerfile", "containerfile"], &["application/dockerfile"]),
    text("makefile", "text/x-makefile", Executable, &["mk", "mak", "makefile", "make"], &[]),
    text("rst", "text/x-rst", Inert, &["rst", "rest"], &["text/prs.fallenstein.rst"]),
    text("vtt", "text/vtt", Inert, &["vtt"], &[]),
    text("srt", "application/x-subrip", Inert, &["srt"], &["text/srt", "text/x-srt"]),
    text("ics", "text/calendar", Inert, &["ics", "ical", "ifb"], &[]),
    text("vcard", "text/vcard", Inert, &["vcf", "vcard"], &["text/directory", "text/x-vcard"]),
    text("pem", "application/x-pem-file", Inert, &["pem", "crt", "cer", "key", "csr", "pub", "p7b", "p7c", "asc"], &["application/pem-certificate-chain", "application/pkcs10+pem", "application/pkcs7-mime+pem", "application/pkcs7-signature", "application/pkcs8", "application/pkcs8+pem", "application/pkix-cert", "application/x-pem", "application/x-pem-key", "application/x-x509-ca-cert", "application/x-x509-cert", "application/x-x509-key", "text/x-pem", "text/x-ssh-private-key", "text/x-ssh-public-key", "text/x-ssl-private-key", "text/x-ssl-public-key"]),
    text("roff", "text/troff", Inert, &["roff", "man", "troff", "me", "ms", "mdoc"], &["application/x-troff", "application/x-troff-man", "text/x-troff"]),
    text("dot", "text/vnd.graphviz", Inert, &["dot", "gv"], &["text/x-dot", "text/x-graphviz"]),
    text("regfile", "text/x-ms-regedit", Executable, &["reg"], &["application/x-ms-regedit", "text/x-windows-registry"]),
    // Neither.
    bytes("empty", "application/x-empty", Inert, &[], &["application/x-zerosize", "inode/x-empty"]),
    UNKNOWN,
    // Text of a language that nobody listed: assume that somebody can run it.
    text("source-other", "text/plain", Executable, &["vbs", "vbe", "kt", "kts", "swift", "scala", "hs", "cs", "fs", "vb", "jl", "f90", "f", "for", "pas", "ex", "exs", "erl", "hrl", "clj", "lisp", "el", "scm", "ml", "mli", "dart", "s", "asm", "tcl", "v", "sv", "vhdl", "cmake", "graphql", "proto", "tf", "sol", "zig", "nim", "d", "coffee", "groovy", "gradle", "awk", "adb", "ads", "cob", "scss", "sass", "less", "svelte", "m", "applescript", "au3", "ahk", "vim", "nix", "raku", "cr", "hx", "txt"], &["text/x-source"]),
    text("text-other", "text/plain", Inert, &["txt", "text", "log", "out", "dat", "nfo", "lst", "bib", "po", "pot", "tex", "srt", "sub", "fasta", "fa", "fastq", "pdb", "sdf", "mol", "gff", "vcf", "bed", "sam", "obj", "stl", "ply", "gcode", "lock", "gitignore"], &[]),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_unique() {
        for (at, kind) in TYPES.iter().enumerate() {
            assert!(TYPES.iter().skip(at + 1).all(|other| other.label != kind.label), "{}", kind.label);
        }
        assert!(TYPES.len() >= 153);
    }

    #[test]
    fn words_are_lower_case_and_media_types_have_a_slash() {
        for kind in TYPES {
            let words = kind.extensions.iter().chain(kind.aliases).chain([&kind.mime, &kind.label]);
            for word in words {
                assert!(!word.is_empty() && word.chars().all(|c| !c.is_uppercase() && !c.is_whitespace()), "{word}");
            }
            for mime in kind.aliases.iter().chain([&kind.mime]) {
                assert_eq!(mime.matches('/').count(), 1, "{mime}");
            }
            assert!(kind.extensions.iter().all(|extension| !extension.contains('.')), "{}", kind.label);
        }
    }
}
