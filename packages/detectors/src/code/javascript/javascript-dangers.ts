/** What of JavaScript's engines and libraries reaches beyond the program, by full name. */
import { wordSet } from '../../text/words.ts';
import { type DangerRow, dangerFinder, dangersByName } from '../danger-table.ts';

const TABLE: readonly DangerRow[] = [
  ['DYNAMIC_CODE', 0.95, 'eval Function GeneratorFunction AsyncFunction vm.* vm2.* isolated-vm.* execScript'],
  ['DYNAMIC_CODE', 0.9, 'module._compile module.prototype._compile repl.start inspector.*'],
  ['DYNAMIC_CODE', 0.6, 'document.write document.writeln trustedTypes.createPolicy'],
  ['DYNAMIC_IMPORT', 0.9, 'module.createRequire module._load module.register process.mainModule'],
  ['DYNAMIC_IMPORT', 0.9, 'importScripts process.getBuiltinModule require.cache require.extensions'],
  ['DYNAMIC_IMPORT', 0.9, 'module._extensions'],
  ['DYNAMIC_ACCESS', 0.7, 'Reflect.get Reflect.apply Reflect.construct Reflect.getPrototypeOf'],
  ['PROCESS', 0.95, 'child_process.* execa.* shelljs.* cross-spawn.* cross-spawn node-pty.* zx.* pty.js.*'],
  ['PROCESS', 0.95, 'Deno.run Deno.Command Bun.spawn Bun.spawnSync Bun.$ cluster.fork process.kill execa'],
  ['PROCESS', 0.9, 'node-cmd.* systeminformation.* open puppeteer.launch'],
  ['NATIVE_CODE', 0.95, 'process.binding process._linkedBinding process.dlopen internalBinding ffi-napi.*'],
  ['NATIVE_CODE', 0.9, 'ffi.* ref-napi.* koffi.* bun:ffi.* Deno.dlopen WebAssembly.*'],
  ['DESERIALIZATION', 0.9, 'v8.deserialize v8.Deserializer node-serialize.* funcster.* cryo.*'],
  ['NETWORK', 0.85, 'fetch XMLHttpRequest WebSocket EventSource RTCPeerConnection WebTransport Deno.connect'],
  ['NETWORK', 0.85, 'navigator.sendBeacon http.request http.get http.createServer http.Server https.request'],
  ['NETWORK', 0.85, 'https.get https.createServer http2.connect http2.createServer net.connect net.Socket'],
  ['NETWORK', 0.85, 'net.createConnection net.createServer net.Server tls.connect tls.createServer dgram.*'],
  ['NETWORK', 0.85, 'dns.* dns/promises.* axios axios.* got got.* node-fetch node-fetch.* superagent'],
  ['NETWORK', 0.85, 'superagent.* request request.* needle needle.* undici.* ky ky.* ws ws.* ssh2.*'],
  ['NETWORK', 0.85, 'nodemailer.* socket.io-client socket.io-client.* ftp.* basic-ftp.* Deno.listen'],
  ['NETWORK', 0.85, 'Bun.serve'],
  ['FILE_WRITE', 0.7, 'fs.writeFile fs.writeFileSync fs.appendFile fs.appendFileSync fs.createWriteStream'],
  ['FILE_WRITE', 0.7, 'fs.rename fs.renameSync fs.copyFile fs.copyFileSync fs.cp fs.cpSync fs.symlink'],
  ['FILE_WRITE', 0.7, 'fs.symlinkSync fs.link fs.linkSync fs.truncate fs.truncateSync fs.outputFile'],
  ['FILE_WRITE', 0.7, 'fs.outputFileSync fs.outputJson fs.writeJson fs.writeJsonSync fs.move fs.moveSync'],
  ['FILE_WRITE', 0.7, 'fs.write fs.writeSync Deno.writeFile Deno.writeTextFile Deno.rename Bun.write'],
  ['FILE_WRITE', 0.7, 'fs.copy'],
  ['FILE_DELETE', 0.9, 'fs.unlink fs.unlinkSync fs.rmdir fs.rmdirSync fs.rm fs.rmSync Deno.remove del del.*'],
  ['DESTRUCTIVE', 0.9, 'fs.remove fs.removeSync fs.emptyDir fs.emptyDirSync rimraf rimraf.*'],
  ['PRIVILEGE', 0.9, 'fs.chmod fs.chmodSync fs.chown fs.chownSync fs.lchown fs.fchmod process.setuid'],
  ['PRIVILEGE', 0.9, 'process.setgid process.seteuid process.setegid process.setgroups process.initgroups'],
];

const HARMLESS = wordSet(`
  WebAssembly.validate dns.setServers dns.getServers axios.isAxiosError axios.AxiosError axios.isCancel
  undici.Headers undici.FormData node-fetch.Headers inspector.url child_process.ChildProcess
`);

/** All variables that a process was started with. */
export const ENVIRONMENT = 'process.env';

/** What a mention of a full name is known for; null: nothing. */
export const jsDangerOf = dangerFinder(TABLE, HARMLESS);

/** Names of the language that stay what they are even if the text gives them to something else in some place. */
export const LASTING = wordSet('eval Function require process globalThis global module');

/** Objects that hold everything by name. */
export const NAMESPACES = wordSet(`
  globalThis global window self top parent frames process require module Function child_process fs vm
  Reflect process.mainModule require.cache Deno Bun this
`);

/** Modules that are not followed once they are passed on. */
export const POWERFUL = wordSet(`
  child_process vm process globalThis global execa shelljs zx worker_threads Deno
`);

/** Methods that say enough where nothing is known of the object. */
export const TELLING = dangersByName([
  ['PROCESS', 0.7, 'execSync spawnSync execFileSync execFile spawn'],
  ['FILE_WRITE', 0.6, 'writeFileSync appendFileSync createWriteStream'],
  ['FILE_DELETE', 0.7, 'unlinkSync rmSync rmdirSync'],
  ['DYNAMIC_CODE', 0.8, 'runInThisContext runInNewContext runInContext _compile'],
  ['DYNAMIC_CODE', 0.6, 'insertAdjacentHTML createContextualFragment'],
  ['NETWORK', 0.8, 'sendBeacon'],
  ['NATIVE_CODE', 0.8, 'dlopen'],
]);

/** What turns letters into code that was not readable before. */
export const JS_DECODERS: ReadonlySet<string> = new Set([
  ...['atob', 'unescape', 'decodeURIComponent', 'decodeURI', 'fromCharCode', 'fromCodePoint', 'inflateSync'],
  ...['gunzipSync', 'brotliDecompressSync', 'unzipSync'],
]);

/** One name for a module, whatever it is called in an import. */
export function moduleName(specifier: string): string {
  const name = specifier.replace(/^node:/, '');
  if (['fs/promises', 'fs-extra', 'graceful-fs', 'original-fs'].includes(name)) return 'fs';
  return name === 'timers/promises' ? 'timers' : name;
}
