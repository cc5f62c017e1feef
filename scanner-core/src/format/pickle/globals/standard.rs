//! Packages that nothing is loaded from but what the list of known names has.

/// Modules of the standard library, of Python 2.7 to 3.14. Hundreds of functions in them run commands, evaluate text,
/// open files or find other functions by name, and more are found each year: a module that nobody thinks of, such as
/// `uuid` or `trace`, is as good as `os`.
pub(super) const STANDARD: &str = "\
    BaseHTTPServer Bastion CGIHTTPServer Canvas ConfigParser Cookie HTMLParser MimeWriter Queue \
    SimpleHTTPServer SimpleXMLRPCServer SocketServer StringIO Tkinter UserDict UserList UserString \
    __future__ _abc _aix_support _android_support _apple_support _ast _asyncio _bisect _blake2 \
    _bootsubprocess _bz2 _codecs _codecs_cn _codecs_hk _codecs_iso2022 _codecs_jp _codecs_kr _codecs_tw \
    _collections _collections_abc _colorize _compat_pickle _compression _contextvars _crypt _csv _ctypes \
    _curses _curses_panel _datetime _dbm _decimal _dummy_thread _dummy_threading _elementtree \
    _frozen_importlib _frozen_importlib_external _functools _gdbm _hashlib _heapq _imp _interpreters _io \
    _ios_support _json _locale _lsprof _lzma _markupbase _md5 _msi _multibytecodec _multiprocessing _opcode \
    _opcode_metadata _operator _osx_support _overlapped _pickle _posixshmem _posixsubprocess _py_abc \
    _pydecimal _pyio _pyrepl _queue _random _remote_debugging _scproxy _sha1 _sha256 _sha3 _sha512 _signal \
    _sitebuiltins _socket _sqlite3 _sre _ssl _stat _statistics _string _strptime _struct _suggestions \
    _symtable _sysconfig _thread _threading_local _tkinter _tokenize _tracemalloc _typing _uuid _warnings \
    _weakref _weakrefset _winapi _winreg _zoneinfo _zstd abc aifc annotationlib antigravity anydbm argparse \
    array ast asynchat asyncio asyncore atexit audiodev audioop base64 bdb binascii binhex bisect bsddb bz2 \
    cPickle cProfile cStringIO calendar cgi cgitb chunk cmath cmd code codecs codeop collections colorsys \
    commands compileall compiler compression concurrent configparser contextlib contextvars cookielib copy \
    copyreg crypt csv ctypes curses dataclasses datetime dbhash dbm decimal difflib dircache dis distutils \
    dl doctest dumbdbm dummy_thread dummy_threading email encodings ensurepip enum errno faulthandler fcntl \
    filecmp fileinput fnmatch formatter fpformat fractions ftplib functools future_builtins gc gdbm \
    genericpath getopt getpass gettext glob graphlib grp gzip hashlib heapq hmac hotshot html htmlentitydefs \
    htmllib http httplib idlelib ihooks imaplib imghdr imp importlib imputil inspect io ipaddress itertools \
    json keyword lib2to3 linecache linuxaudiodev locale logging lzma macpath macurl2path mailbox mailcap \
    marshal math md5 mhlib mimetools mimetypes mimify mmap modulefinder msilib msvcrt multifile \
    multiprocessing mutex netrc new nis nntplib nt ntpath nturl2path numbers opcode operator optparse os \
    os2emxpath ossaudiodev parser pathlib pdb pickle pickletools pipes pkgutil platform plistlib popen2 \
    poplib posix posixfile posixpath pprint profile pstats pty pwd py_compile pyclbr pydoc pydoc_data \
    pyexpat queue quopri random re readline reprlib resource rexec rfc822 rlcompleter robotparser runpy \
    sched secrets select selectors sets sgmllib sha shelve shlex shutil signal site smtpd smtplib sndhdr \
    socket socketserver spwd sqlite3 sre_compile sre_constants sre_parse ssl stat statistics statvfs string \
    stringold stringprep strop struct subprocess sunau sunaudio symbol symtable sys sysconfig syslog \
    tabnanny tarfile telnetlib tempfile termios test textwrap this thread threading time timeit timing \
    tkColorChooser tkFileDialog tkinter toaiff token tokenize tomllib trace traceback tracemalloc tty turtle \
    turtledemo types typing unicodedata unittest urllib urllib2 urlparse user uu uuid venv warnings wave \
    weakref webbrowser whichdb winreg winsound wsgiref xdrlib xml xmllib xmlrpc xmlrpclib zipapp zipfile \
    zipimport zlib zoneinfo";

/// Packages for connections, processes, installing, evaluating, and for pickles that carry code.
pub(super) const REACHING: &str = "\
    IPython aiofiles aiohttp airflow ansible asyncpg asyncssh billiard boto boto3 botocore celery cffi cloudpickle \
    code_generator cryptography curl_cffi dask_jobqueue dill distributed django docker eventlet execnet fabric fabric2 \
    fastapi flask fsspec gevent git google grpc gunicorn h11 h2 hickle httpcore httplib2 httpx invoke ipykernel ipython_genutils \
    jinja2 jsonpickle jupyter_client jupyter_core klepto kombu kubernetes llvmlite loky luigi mako mechanize mpire \
    multiprocess nox numexpr openai paramiko parsl pathos pebble peewee pexpect pika pip pkg_resources plumbum portpicker \
    prefect psutil psycopg psycopg2 ptyprocess pwn pwnlib pycurl pymongo pymysql pytest _pytest pythoncom pywintypes ray redis \
    requests rq rpyc scp scrapy selenium setuptools _distutils_hack sh smbclient sqlalchemy ssh2 starlette streamlit \
    tblib tornado tox twisted urllib3 uvicorn virtualenv watchdog websocket websockets werkzeug wheel win32api win32com \
    win32con win32process wmi zmq zope";
