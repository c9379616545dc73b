export { ConfigReader, type Located, type ObjectReader, plainJson, quoted } from './config-reader.ts';
export { jsonFault, jsonFaultOfLine } from './json-fault.ts';
export { blankEnd, type JsonMember, LineMap } from './json-text.ts';
export { nearest, suggestion } from './nearest.ts';
export {
  absolutePath,
  CODE_ROOT,
  configurationCandidates,
  covers,
  defaultDataFolder,
  type Environment,
  isFile,
  ownPaths,
  realPath,
  stateFolder,
  writtenFolders,
} from './paths.ts';
export { openBytes, parseJsonFile, readStream, readTextFile } from './text-file.ts';
