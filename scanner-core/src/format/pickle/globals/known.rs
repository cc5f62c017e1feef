//! Names that honest pickles load, and that only build data.
//!
//! Where they come from: pickles of every protocol, written from objects of the standard library, numpy, pandas, scipy,
//! scikit-learn, pyarrow and joblib, and what torch's own reader for weights allows.

/// Exact names by module: one blank between two names.
pub(super) const NAMES: &[(&str, &str)] = &[
    ("UserDict", "IterableUserDict UserDict"),
    ("UserList", "UserList"),
    ("_codecs", "encode"),
    ("_io", "BytesIO StringIO"),
    ("argparse", "Namespace"),
    ("array", "_array_reconstructor array"),
    ("builtins", BUILTINS),
    ("collections", "ChainMap Counter OrderedDict UserDict UserList UserString defaultdict deque"),
    ("copyreg", "__newobj__ __newobj_ex__ _reconstructor"),
    ("datetime", "date datetime time timedelta timezone"),
    ("dateutil.relativedelta", "relativedelta weekday"),
    ("dateutil.tz.tz", "tzfile tzlocal tzoffset tzutc"),
    ("decimal", "Decimal"),
    ("fractions", "Fraction"),
    ("http", "HTTPMethod HTTPStatus"),
    ("ipaddress", "IPv4Address IPv4Interface IPv4Network IPv6Address IPv6Interface IPv6Network"),
    ("itertools", "chain count cycle izip product repeat"),
    ("logging", "getLogger"),
    ("numpy", NUMPY),
    ("numpy.char", "chararray"),
    ("numpy.core._multiarray_umath", NUMPY),
    ("numpy.core.defchararray", "chararray"),
    ("numpy.core.multiarray", "_reconstruct scalar"),
    ("numpy.core.numeric", "_frombuffer"),
    ("numpy.core.records", "recarray record"),
    ("numpy._core._multiarray_umath", NUMPY),
    ("numpy._core.multiarray", "_reconstruct scalar"),
    ("numpy._core.numeric", "_frombuffer"),
    ("numpy.lib.function_base", "vectorize"),
    ("numpy.lib.polynomial", "poly1d"),
    ("numpy.ma", "MaskedArray"),
    ("numpy.ma.core", "MaskedArray MaskedConstant _mareconstruct"),
    ("numpy.matrixlib.defmatrix", "matrix"),
    ("numpy.random", "Generator RandomState __RandomState_ctor"),
    ("numpy.random._generator", "Generator"),
    ("numpy.random._mt19937", "MT19937"),
    ("numpy.random._pcg64", "PCG64 PCG64DXSM"),
    ("numpy.random._philox", "Philox"),
    ("numpy.random._pickle", "__bit_generator_ctor __generator_ctor __randomstate_ctor"),
    ("numpy.random._sfc64", "SFC64"),
    ("numpy.random.bit_generator", "SeedSequence __pyx_unpickle_SeedSequence"),
    ("numpy.random.mtrand", "RandomState __RandomState_ctor"),
    ("numpy.rec", "recarray record"),
    ("operator", "itemgetter"),
    ("pandas._libs.arrays", "__pyx_unpickle_NDArrayBacked"),
    ("pandas._libs.internals", "_unpickle_block"),
    ("pandas._libs.interval", "Interval __pyx_unpickle_IntervalMixin"),
    ("pandas._libs.missing", "NAType"),
    ("pandas._libs.sparse", "BlockIndex IntIndex"),
    ("pandas._libs.tslibs.nattype", "_nat_unpickle"),
    ("pandas._libs.tslibs.period", "Period __pyx_unpickle_PeriodMixin"),
    ("pandas._libs.tslibs.timedeltas", "Timedelta _timedelta_unpickle"),
    ("pandas._libs.tslibs.timestamps", "Timestamp _unpickle_timestamp"),
    ("pandas.core.indexes.base", "Index _new_Index"),
    ("pandas.core.indexes.datetimes", "DatetimeIndex _new_DatetimeIndex"),
    ("pandas.core.indexes.interval", "IntervalIndex _new_IntervalIndex"),
    ("pandas.core.indexes.period", "PeriodIndex _new_PeriodIndex"),
    ("pandas.core.indexes.timedeltas", "TimedeltaIndex _new_TimedeltaIndex"),
    ("pandas.core.internals.blocks", "new_block"),
    ("pathlib", PATHS),
    ("pathlib._local", PATHS),
    (
        "pyarrow.lib",
        "Buffer Schema _reconstruct_record_batch _reconstruct_table _restore_array chunked_array field \
                     py_buffer schema struct timestamp duration time32 time64 decimal128 dictionary large_list list_ map_ \
                     type_for_alias",
    ),
    ("pytz", "_UTC _p"),
    ("pytz.lazy", "LazyDict"),
    ("pytz.tzinfo", "DstTzInfo StaticTzInfo"),
    ("random", "Random"),
    ("re", "RegexFlag _compile"),
    ("scipy._lib.array_api_compat.numpy._aliases", "asarray"),
    ("scipy.interpolate._interpolate", INTERP1D),
    ("scipy.interpolate.interpolate", INTERP1D),
    ("scipy.spatial._ckdtree", "cKDTree"),
    ("scipy.spatial.ckdtree", "cKDTree"),
    ("scipy.special", "betaln erf erfc expit gammaln inv_boxcox boxcox log_expit logit softmax xlogy"),
    ("scipy.special._ufuncs", "boxcox erf erfc expit gammaln inv_boxcox log_expit logit xlogy"),
    ("scipy.stats._kde", "gaussian_kde"),
    ("scipy.stats.kde", "gaussian_kde"),
    ("signal", "Handlers Signals"),
    ("statistics", "NormalDist"),
    ("string", "Template"),
    ("torch", TORCH),
    ("torch._tensor", "_rebuild_from_type_v2"),
    (
        "torch._utils",
        "_rebuild_device_tensor_from_cpu_tensor _rebuild_device_tensor_from_numpy \
                      _rebuild_meta_tensor_no_storage _rebuild_nested_tensor _rebuild_parameter \
                      _rebuild_parameter_with_state _rebuild_qtensor _rebuild_sparse_csr_tensor _rebuild_sparse_tensor \
                      _rebuild_tensor _rebuild_tensor_v2 _rebuild_tensor_v3 _rebuild_wrapper_subclass _rebuild_xla_tensor",
    ),
    ("torch._C._nn", "gelu"),
    (
        "torch.jit._pickle",
        "build_boollist build_doublelist build_intlist build_tensor_from_id build_tensorlist \
                           restore_type_tag",
    ),
    (
        "torch.nn.functional",
        "elu gelu hardswish leaky_relu log_softmax mish relu relu6 selu sigmoid silu softmax softplus tanh",
    ),
    ("torch.serialization", "_get_layout"),
    ("torch.storage", "TypedStorage UntypedStorage _TypedStorage _UntypedStorage"),
    ("types", "SimpleNamespace"),
    ("uuid", "SafeUUID UUID"),
    ("zoneinfo", "ZoneInfo"),
];

/// What the language has built in, and its errors. Nothing of it calls, opens or looks up.
const BUILTINS: &str = "ArithmeticError AssertionError AttributeError BaseException BaseExceptionGroup BlockingIOError \
    BrokenPipeError BufferError BytesWarning ChildProcessError ConnectionAbortedError ConnectionError \
    ConnectionRefusedError ConnectionResetError DeprecationWarning EOFError Ellipsis EncodingWarning EnvironmentError \
    Exception ExceptionGroup FileExistsError FileNotFoundError FloatingPointError FutureWarning GeneratorExit IOError \
    ImportError ImportWarning IndentationError IndexError InterruptedError IsADirectoryError KeyError KeyboardInterrupt \
    LookupError MemoryError ModuleNotFoundError NameError NotADirectoryError NotImplemented NotImplementedError OSError \
    OverflowError PendingDeprecationWarning PermissionError ProcessLookupError RecursionError ReferenceError \
    ResourceWarning RuntimeError RuntimeWarning StandardError StopAsyncIteration StopIteration SyntaxError SyntaxWarning \
    SystemError TabError TimeoutError TypeError UnboundLocalError UnicodeDecodeError UnicodeEncodeError UnicodeError \
    UnicodeTranslateError UnicodeWarning UserWarning ValueError Warning ZeroDivisionError abs all any basestring bool \
    bytearray bytes complex dict enumerate float frozenset int iter len list long max min object range reversed round set \
    slice sorted str sum tuple type unicode xrange zip";

const PATHS: &str = "Path PosixPath PurePath PurePosixPath PureWindowsPath WindowsPath";

/// Classes, types of numbers, and functions of numbers: as the steps of a pipeline they are stored by name.
const NUMPY: &str = "abs absolute add arccos arccosh arcsin arcsinh arctan arctan2 arctanh argmax argmin argsort around \
    array asarray average bool bool8 bool_ broadcast_to byte bytes_ cbrt cdouble ceil clip clongdouble complex128 complex192 \
    complex256 complex64 complex_ concatenate conj copysign cos cosh count_nonzero csingle cumprod cumsum datetime64 deg2rad \
    degrees diff divide dot double dtype equal exp exp2 expm1 fabs finfo float128 float16 float32 float64 float96 float_ \
    floor floor_divide fmax fmin greater greater_equal half heaviside hstack hypot iinfo inner int16 int32 int64 int8 int_ \
    intc intp invert isfinite isinf isnan less less_equal linspace log log10 log1p log2 logaddexp logical_and logical_not \
    logical_or logical_xor long longdouble longlong matmul matrix max maximum mean median min minimum mod multiply nan_to_num \
    nanmax nanmean nanmedian nanmin nanstd nansum nanvar ndarray ndindex negative not_equal object_ percentile poly1d \
    positive power prod ptp quantile rad2deg radians ravel rec recarray reciprocal record remainder reshape rint round \
    short sign signbit sin single sinh sort sqrt square squeeze std str_ subtract sum tan tanh timedelta64 transpose \
    true_divide trunc ubyte uint uint16 uint32 uint64 uint8 uintc uintp ulong ulonglong unicode_ unique ushort var vectorize \
    void vstack where";

/// Strategies of one-dimensional interpolation, which it keeps as functions.
const INTERP1D: &str = "interp1d interp1d._call_linear interp1d._call_linear_np interp1d._call_nan_spline \
    interp1d._call_nearest interp1d._call_previousnext interp1d._call_spline";

/// Storages, types of numbers, and what a tensor has besides.
const TORCH: &str = "BFloat16Storage BoolStorage BoolTensor ByteStorage ByteTensor CharStorage CharTensor \
    ComplexDoubleStorage ComplexFloatStorage DoubleStorage DoubleTensor FloatStorage FloatTensor Generator HalfStorage \
    HalfTensor IntStorage IntTensor LongStorage LongTensor QInt32Storage QInt8Storage QUInt4x2Storage QUInt8Storage \
    ShortStorage ShortTensor Size Tensor UntypedStorage bfloat16 bool complex128 complex32 complex64 device double float \
    float16 float32 float64 float8_e4m3fn float8_e5m2 gelu half int int16 int32 int64 int8 long per_channel_affine \
    per_tensor_affine preserve_format qint32 qint8 quint8 relu short sigmoid softmax strided tanh uint8";

/// Packages whose classes hold data, and that run nothing when one of them is made. A class begins with a capital
/// letter; so does none of their functions.
pub(super) const CLASSES: &[&str] = &[
    "__torch__",
    "catboost",
    "category_encoders",
    "filterpy",
    "hmmlearn",
    "imblearn",
    "interpret",
    "lifelines",
    "lightgbm",
    "networkx",
    "numpy.dtypes",
    "numpy.polynomial",
    "numpy.random",
    "numpy.rec",
    "optuna.distributions",
    "optuna.trial",
    "pandas",
    "pyarrow.lib",
    "scipy.interpolate",
    "scipy.optimize",
    "scipy.sparse",
    "scipy.spatial",
    "scipy.stats",
    "shapely",
    "skimage",
    "sklearn",
    "statsmodels",
    "surprise",
    "torch.distributions",
    "torch.nn.modules",
    "torch.nn.parameter",
    "torch.optim",
    "torch.utils.data.dataset",
    "torchvision.models",
    "torchvision.transforms",
    "xgboost",
    "yellowbrick",
];

/// Below those packages: modules whose classes open files, connections or other pickles.
pub(super) const NOT_CLASSES: &[&str] = &[
    "lightgbm.dask",
    "networkx.readwrite",
    "pandas.io",
    "pandas.core.computation",
    "pandas.plotting",
    "skimage.io",
    "sklearn.datasets",
    "sklearn.externals",
    "sklearn.utils._testing",
    "statsmodels.datasets",
    "statsmodels.iolib",
    "xgboost.dask",
    "xgboost.spark",
];

/// The same by name: `pandas.HDFStore` opens a file.
pub(super) const NOT_CLASS_NAMES: &str = "ExcelFile ExcelWriter HDFStore";

/// Classes with small letters: sparse matrices, and distributions, which end in `_gen` or `_frozen`.
pub(super) const SMALL_CLASSES: &[(&str, &str)] = &[
    (
        "scipy.sparse",
        "bsr_array bsr_matrix coo_array coo_matrix csc_array csc_matrix csr_array csr_matrix dia_array dia_matrix \
                      dok_array dok_matrix lil_array lil_matrix",
    ),
    ("scipy.interpolate", "interp1d interp2d"),
];

/// Modules of scikit-learn whose functions work on numbers: scorers, kernels and tests are stored by name.
pub(super) const FUNCTIONS: &[&str] = &[
    "sklearn._loss",
    "sklearn.base",
    "sklearn.cluster",
    "sklearn.compose",
    "sklearn.decomposition",
    "sklearn.ensemble",
    "sklearn.feature_extraction",
    "sklearn.feature_selection",
    "sklearn.gaussian_process",
    "sklearn.linear_model",
    "sklearn.metrics",
    "sklearn.neighbors",
    "sklearn.preprocessing",
    "sklearn.tree",
];

/// Libraries that the names above are of, and others of the trade: what else they have may read files, evaluate text or
/// fetch models, so a function of theirs that is called while loading is not for data.
pub(super) const LIBRARIES: &str = "PIL accelerate bokeh catboost cupy cv2 dask datasets diffusers fastai gensim h5py \
    huggingface_hub imageio imblearn jax joblib keras lightgbm lightning matplotlib mlflow modin mxnet networkx nltk numba \
    numpy onnx onnxruntime optuna pandas pickletools plotly polars pyarrow pydantic pytorch_lightning safetensors scipy \
    seaborn shap skimage sklearn skops spacy statsmodels sympy tensorboard tensorflow theano timm tokenizers torch \
    torchaudio torchvision transformers wandb xgboost yaml";
