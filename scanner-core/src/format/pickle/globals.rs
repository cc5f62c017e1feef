//! What a name that a pickle loads can do.

mod known;
mod standard;

/// What loading, or calling, a name does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// Builds data.
    Known,
    /// Finds an attribute by name: harmless in one known pair of arguments.
    Attribute,
    /// Keeps a call for later: harmless when the function it keeps is known.
    Partial,
    /// Loads a pickle that is given as bytes: as harmless as those.
    Loads,
    /// Raw bytes of an array follow in the stream.
    RawArray,
    /// A type of the elements of an array.
    ElementType,
    /// Nobody here knows.
    Unknown,
    /// A function of a known library: none that honest pickles call.
    Function,
    /// Runs code, or finds what does.
    Dangerous,
}

/// What that name of that module does.
pub(super) fn reach(module: &str, name: &str) -> Reach {
    let module = modern(module);
    match (module, name) {
        ("builtins", "getattr") => return Reach::Attribute,
        ("functools" | "_functools", "partial") => return Reach::Partial,
        ("torch.storage", "_load_from_bytes") => return Reach::Loads,
        ("joblib.numpy_pickle" | "sklearn.externals.joblib.numpy_pickle", "NumpyArrayWrapper") => {
            return Reach::RawArray;
        }
        ("numpy", "dtype") => return Reach::ElementType,
        _ => {}
    }
    if known::NAMES.iter().any(|(listed, names)| *listed == module && lists(names, name))
        || is_known_class(module, name)
    {
        return Reach::Known;
    }
    let root = module.split('.').next().unwrap_or(module);
    if root == "builtins" || lists(standard::STANDARD, root) || lists(standard::REACHING, root) {
        return Reach::Dangerous;
    }
    // `read_pickle`, `GuardBuilder.get`: a function, or a method.
    let last = name.rsplit('.').next().unwrap_or(name);
    let is_function = !last.trim_start_matches('_').starts_with(|letter: char| letter.is_ascii_uppercase());
    if is_function && lists(known::LIBRARIES, root) { Reach::Function } else { Reach::Unknown }
}

/// Whether that name loads another pickle, evaluates bytes, or unpacks them: what stands in the pickle as bytes or text
/// may then be a program.
pub(super) fn unpacks(module: &str, name: &str) -> bool {
    let root = module.split('.').next().unwrap_or(module);
    lists(
        "base64 binascii bz2 cPickle cloudpickle codecs dill gzip io joblib lzma marshal pickle _pickle shelve torch zlib",
        root,
    ) || lists("eval exec load loads read_pickle decode", name)
}

/// A name of Python 2 as Python 3 has it.
fn modern(module: &str) -> &str {
    match module {
        "__builtin__" | "exceptions" => "builtins",
        "copy_reg" => "copyreg",
        _ => module,
    }
}

/// A class of a package whose classes hold data.
fn is_known_class(module: &str, name: &str) -> bool {
    let below = |packages: &[&str]| packages.iter().any(|package| is_below(module, package));
    // A name with a dot is an attribute of a class: a method, as like as not.
    if name.contains('.') || below(known::NOT_CLASSES) || lists(known::NOT_CLASS_NAMES, name) {
        return false;
    }
    let bare = name.trim_start_matches('_');
    if known::SMALL_CLASSES.iter().any(|(package, names)| is_below(module, package) && lists(names, name)) {
        return true;
    }
    if is_below(module, "scipy.stats") && (name.ends_with("_gen") || name.ends_with("_frozen")) {
        return true;
    }
    // What restores an index or a date of pandas, in any of its versions.
    let restores = (name.starts_with("_new_") && name.ends_with("Index")) || name.ends_with("_unpickle");
    if is_below(module, "pandas") && restores {
        return true;
    }
    // What Cython makes to restore an object of one class: it takes no other.
    if below(known::FUNCTIONS) || (below(known::CLASSES) && name.starts_with("__pyx_unpickle_")) {
        return true;
    }
    below(known::CLASSES) && bare.starts_with(|letter: char| letter.is_ascii_uppercase())
}

/// Whether a module is that package or inside it.
fn is_below(module: &str, package: &str) -> bool {
    module.strip_prefix(package).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// Whether a list of words, one blank between two, has that one.
fn lists(words: &str, word: &str) -> bool {
    words.split(' ').any(|listed| listed == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(want: Reach, names: &[&str]) {
        for path in names {
            let (module, name) = path.split_once(' ').expect("a module and a name");
            assert_eq!(reach(module, name), want, "{path}");
        }
    }

    #[test]
    fn honest_names_are_known() {
        check(
            Reach::Known,
            &[
                "__builtin__ set",
                "builtins KeyError",
                "copy_reg _reconstructor",
                "numpy._core.multiarray scalar",
                "numpy log1p",
                "pandas DataFrame",
                "pandas._libs.tslibs.offsets MonthEnd",
                "pandas._libs.tslibs.nattype __nat_unpickle",
                "pandas.indexes.base _new_Index",
                "pandas.core.internals.managers BlockManager",
                "scipy.sparse._csr csr_matrix",
                "scipy.stats._continuous_distns norm_gen",
                "sklearn.tree._tree Tree",
                "sklearn.metrics._dist_metrics newObj",
                "sklearn._loss._loss __pyx_unpickle_CyHalfSquaredError",
                "sklearn.neural_network._multilayer_perceptron MLPClassifier",
                "torch.nn.modules.linear Linear",
                "torch._utils _rebuild_tensor_v2",
                "zoneinfo ZoneInfo",
            ],
        );
    }

    #[test]
    fn everything_else_of_the_standard_library_is_a_tool() {
        check(
            Reach::Dangerous,
            &[
                "os system",
                "posix system",
                "__builtin__ eval",
                "builtins __import__",
                "uuid _get_command_stdout",
                "logging FileHandler",
                "pydoc locate",
                "httplib HTTPSConnection",
                "operator attrgetter",
                "aiohttp.client ClientSession",
                "cloudpickle.cloudpickle _make_function",
                "types CodeType",
                "zoneinfo._common load_data",
                "test.support.script_helper assert_python_ok",
            ],
        );
    }

    #[test]
    fn libraries_have_functions_that_are_not_for_data() {
        check(
            Reach::Function,
            &[
                "numpy.testing._private.utils runstring",
                "numpy.f2py.crackfortran getlincoef",
                "numpy load",
                "pandas read_pickle",
                "pandas eval",
                "torch.hub load",
                "torch._dynamo.guards GuardBuilder.get",
                "joblib load",
                "sklearn.datasets load_files",
                "numpy.core _ufunc_reconstruct",
            ],
        );
        check(Reach::Unknown, &["__main__ Point", "mymodule f", "pandas HDFStore", "pandas.io.pytables HDFStore", " "]);
    }
}
