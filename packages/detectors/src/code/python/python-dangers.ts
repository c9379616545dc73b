/**
 * What of Python's library reaches beyond the program, by full name.
 *
 * A mention counts, not only a call: code that passes `os.system` on has others call it.
 */
import { wordSet } from '../../text/words.ts';
import { type DangerRow, dangerFinder, dangersByName } from '../danger-table.ts';

const TABLE: readonly DangerRow[] = [
  ['DYNAMIC_CODE', 0.95, 'eval exec execfile builtins.eval builtins.exec builtins.execfile __builtin__.eval'],
  ['DYNAMIC_CODE', 0.9, 'compile builtins.compile types.FunctionType types.CodeType types.LambdaType'],
  ['DYNAMIC_CODE', 0.9, 'runpy.* code.interact code.InteractiveInterpreter code.InteractiveConsole codeop.*'],
  ['DYNAMIC_CODE', 0.9, 'code.compile_command cProfile.run cProfile.runctx profile.run profile.runctx'],
  ['DYNAMIC_CODE', 0.85, 'timeit.timeit timeit.repeat timeit.Timer pandas.eval pd.eval numexpr.evaluate'],
  ['DYNAMIC_IMPORT', 0.9, '__import__ builtins.__import__ importlib.import_module importlib.__import__'],
  ['DYNAMIC_IMPORT', 0.9, 'importlib.reload importlib.util.* importlib.machinery.* imp.* zipimport.*'],
  ['DYNAMIC_IMPORT', 0.8, 'pkgutil.find_loader pkgutil.get_loader sys.meta_path sys.path_hooks sys.path.*'],
  ['DYNAMIC_ACCESS', 0.9, 'globals builtins.globals builtins.getattr builtins.locals builtins.vars'],
  ['DYNAMIC_ACCESS', 0.9, 'sys.modules operator.attrgetter operator.methodcaller inspect.getattr_static'],
  ['INTROSPECTION', 0.9, 'sys._getframe sys._current_frames inspect.currentframe inspect.stack'],
  ['INTROSPECTION', 0.9, 'gc.get_objects gc.get_referrers gc.get_referents sys.settrace sys.setprofile'],
  ['PROCESS', 0.95, 'os.system os.popen os.popen2 os.popen3 os.popen4 os.startfile os.fork os.forkpty'],
  ['PROCESS', 0.95, 'os.execl os.execle os.execlp os.execlpe os.execv os.execve os.execvp os.execvpe'],
  ['PROCESS', 0.95, 'os.spawnl os.spawnle os.spawnlp os.spawnlpe os.spawnv os.spawnve os.spawnvp'],
  ['PROCESS', 0.95, 'os.spawnvpe os.posix_spawn os.posix_spawnp os.kill os.killpg'],
  ['PROCESS', 0.95, 'posix.system posix.popen posix.fork nt.system pty.spawn pty.fork platform.popen'],
  ['PROCESS', 0.95, 'subprocess.* _posixsubprocess.* commands.* popen2.* pexpect.* sh.* plumbum.* envoy.*'],
  ['PROCESS', 0.95, 'asyncio.create_subprocess_exec asyncio.create_subprocess_shell distutils.spawn.*'],
  ['PROCESS', 0.9, 'asyncio.subprocess.* invoke.run fabric.* get_ipython().system webbrowser.open'],
  ['PROCESS', 0.9, 'get_ipython().run_cell get_ipython().run_cell_magic get_ipython().run_line_magic'],
  ['PROCESS', 0.9, 'get_ipython().getoutput get_ipython().magic test.support.script_helper.*'],
  ['NATIVE_CODE', 0.95, 'ctypes.* _ctypes.* cffi.* mmap.PROT_EXEC'],
  ['DESERIALIZATION', 0.95, 'pickle.load pickle.loads pickle.Unpickler _pickle.load _pickle.loads'],
  ['DESERIALIZATION', 0.95, 'cPickle.load cPickle.loads cPickle.Unpickler dill.load dill.loads'],
  ['DESERIALIZATION', 0.95, 'cloudpickle.load cloudpickle.loads marshal.load marshal.loads shelve.open'],
  ['DESERIALIZATION', 0.9, 'joblib.load pandas.read_pickle pd.read_pickle jsonpickle.decode'],
  ['DESERIALIZATION', 0.9, 'yaml.unsafe_load yaml.unsafe_load_all yaml.UnsafeLoader yaml.full_load'],
  ['NETWORK', 0.85, 'requests.* httpx.* aiohttp.* urllib3.* urllib.request.* urllib2.* pycurl.* treq.*'],
  ['NETWORK', 0.85, 'urllib.urlopen urllib.urlretrieve urllib.URLopener http.client.* httplib.* httplib2.*'],
  ['NETWORK', 0.85, 'socket.socket socket.create_connection socket.create_server socket.socketpair'],
  ['NETWORK', 0.85, 'socket.fromfd socketserver.* http.server.* xmlrpc.client.* xmlrpc.server.*'],
  ['NETWORK', 0.85, 'ftplib.* smtplib.* poplib.* imaplib.* telnetlib.* nntplib.* paramiko.* asyncssh.*'],
  ['NETWORK', 0.85, 'asyncio.open_connection asyncio.start_server websockets.* websocket.* wget.*'],
  ['NETWORK', 0.8, 'boto3.* dns.resolver.* socket.gethostbyname socket.getaddrinfo scapy.*'],
  ['FILE_DELETE', 0.9, 'os.remove os.unlink os.rmdir os.removedirs os.truncate send2trash.send2trash'],
  ['DESTRUCTIVE', 0.95, 'shutil.rmtree'],
  ['FILE_DELETE', 0.9, 'pathlib.Path().unlink pathlib.Path().rmdir'],
  ['FILE_WRITE', 0.7, 'os.rename os.renames os.replace os.symlink os.link os.mknod os.mkfifo os.ftruncate'],
  ['FILE_WRITE', 0.7, 'shutil.move shutil.copy shutil.copy2 shutil.copyfile shutil.copytree'],
  ['FILE_WRITE', 0.7, 'shutil.copyfileobj shutil.make_archive shutil.unpack_archive'],
  ['FILE_WRITE', 0.7, 'pathlib.Path().write_text pathlib.Path().write_bytes pathlib.Path().rename'],
  ['FILE_WRITE', 0.7, 'pathlib.Path().replace pathlib.Path().symlink_to pathlib.Path().hardlink_to'],
  ['PRIVILEGE', 0.9, 'os.chmod os.lchmod os.fchmod os.chown os.lchown os.fchown os.setuid os.seteuid'],
  ['PRIVILEGE', 0.9, 'os.setgid os.setegid os.setreuid os.setresuid os.setgroups os.chroot os.setns'],
  ['PRIVILEGE', 0.9, 'shutil.chown pathlib.Path().chmod'],
  ['PERSISTENCE', 0.85, 'winreg.* _winreg.* crontab.*'],
  ['INSTALL', 0.95, 'pip.main pip._internal.* ensurepip.* setuptools.* easy_install.*'],
];

/** Names of those modules that only describe: constants, exceptions, types for hints, pure functions. */
const HARMLESS = wordSet(`
  subprocess.PIPE subprocess.DEVNULL subprocess.STDOUT subprocess.CalledProcessError
  subprocess.TimeoutExpired subprocess.SubprocessError subprocess.CompletedProcess subprocess.list2cmdline
  requests.exceptions requests.codes requests.RequestException requests.HTTPError requests.ConnectionError
  requests.Timeout requests.Response requests.utils requests.models requests.status_codes
  requests.structures httpx.HTTPError httpx.Response httpx.TimeoutException httpx.HTTPStatusError
  httpx.RequestError httpx.Timeout aiohttp.ClientError aiohttp.ClientTimeout aiohttp.ClientResponse
  aiohttp.web urllib3.exceptions urllib3.util urllib.request.quote urllib.request.unquote
  urllib.request.pathname2url urllib.request.url2pathname http.client.responses http.client.HTTPException
  http.client.HTTPResponse smtplib.SMTPException ctypes.sizeof websockets.exceptions paramiko.SSHException
  boto3.exceptions imp.get_tag importlib.util.cache_from_source importlib.machinery.SOURCE_SUFFIXES
  importlib.machinery.EXTENSION_SUFFIXES sys.path.copy sys.path.index sys.path.count
  setuptools.find_packages setuptools.setup
`);

/** What a mention of a full name is known for; null: nothing. */
export const dangerOf = dangerFinder(TABLE, HARMLESS);

/**
 * Modules that give everything to anyone who gets hold of them: passed on as a value, or bound in any way, they are
 * followed no further.
 */
const POWERFUL = wordSet(`
  os posix nt sys subprocess builtins __builtin__ __builtins__ importlib shutil ctypes _ctypes cffi pty
  runpy imp socket pickle marshal dill code gc inspect multiprocessing _posixsubprocess types operator
  commands popen2 pexpect
`);

export function isPowerfulModule(name: string): boolean {
  return POWERFUL.has(name) || name === 'importlib.util' || name === 'importlib.machinery';
}

/** Names that are looked at even where the text binds them otherwise: a binding that never happens would hide them. */
export function isKnownWithoutImport(name: string): boolean {
  return (
    POWERFUL.has(name) && name !== 'code' && name !== 'types' && name !== 'commands' && name !== 'operator'
  );
}

/** Attributes that lead from any object to the interpreter. */
export const CLIMBING = wordSet(`
  __subclasses__ __bases__ __base__ __mro__ mro __globals__ __builtins__ __code__ __closure__ __loader__
  __spec__ __import__ __getattribute__ __reduce__ __reduce_ex__ func_globals func_code co_code co_consts
  gi_frame gi_code cr_frame cr_code ag_frame f_globals f_locals f_builtins f_back tb_frame __self__ __func__
  __wrapped__ __kwdefaults__ __objclass__ __init_subclass__
`);

/** Method names that say enough where nothing is known of the object. */
export const TELLING_METHODS = dangersByName([
  [
    'PROCESS',
    0.6,
    'system popen Popen check_output check_call getoutput getstatusoutput execv execve spawnl',
  ],
  ['PROCESS', 0.6, 'spawnv posix_spawn execvp execlp exec_command create_subprocess_shell system_raw'],
  ['FILE_DELETE', 0.6, 'unlink rmdir rmtree'],
  ['FILE_WRITE', 0.6, 'write_text write_bytes'],
  ['DYNAMIC_IMPORT', 0.7, 'import_module exec_module load_module'],
  ['NETWORK', 0.7, 'urlopen urlretrieve'],
  ['NATIVE_CODE', 0.8, 'CDLL'],
]);

/** What turns bytes into a text that was not readable before. */
export const DECODERS = wordSet(`
  b64decode standard_b64decode urlsafe_b64decode b32decode b16decode b85decode a85decode decodebytes
  decodestring a2b_base64 a2b_hex unhexlify fromhex decompress rot13
`);

/** Python's built-in functions and constants, as of 3.12. Exceptions follow their endings. */
const BUILTINS = wordSet(`
  Ellipsis NotImplemented __build_class__ __debug__ __import__ abs aiter all anext any ascii bin bool
  breakpoint bytearray bytes callable chr classmethod compile complex copyright credits delattr dict dir
  divmod enumerate eval exec exit filter float format frozenset getattr globals hasattr hash help hex id
  input int isinstance issubclass iter len license list locals map max memoryview min next object oct open
  ord pow print property quit range repr reversed round set setattr slice sorted staticmethod str sum super
  tuple type vars zip ArithmeticError AssertionError AttributeError BaseException BaseExceptionGroup
  BlockingIOError BrokenPipeError BufferError BytesWarning ChildProcessError ConnectionAbortedError
  ConnectionError ConnectionRefusedError ConnectionResetError DeprecationWarning EOFError EncodingWarning
  EnvironmentError Exception ExceptionGroup FileExistsError FileNotFoundError FloatingPointError
  FutureWarning GeneratorExit IOError ImportError ImportWarning IndentationError IndexError InterruptedError
  IsADirectoryError KeyError KeyboardInterrupt LookupError MemoryError ModuleNotFoundError NameError
  NotADirectoryError NotImplementedError OSError OverflowError PendingDeprecationWarning PermissionError
  ProcessLookupError RecursionError ReferenceError ResourceWarning RuntimeError RuntimeWarning
  StopAsyncIteration StopIteration SyntaxError SyntaxWarning SystemError SystemExit TabError TimeoutError
  TypeError UnboundLocalError UnicodeDecodeError UnicodeEncodeError UnicodeError UnicodeTranslateError
  UnicodeWarning UserWarning ValueError Warning ZeroDivisionError
`);

export function isBuiltin(name: string): boolean {
  return BUILTINS.has(name);
}
