/** Where other MCP clients keep their configurations. */
import { join } from 'node:path';

/** What a file looks like. */
export type Dialect = 'servers-json' | 'claude-json' | 'vscode-settings' | 'codex-toml';

export interface ClientFile {
  readonly client: string;
  readonly path: string;
  readonly dialect: Dialect;
  /** Of the current folder, or of the user. */
  readonly scope: 'project' | 'user';
}

/** Paths of the project, below its folder. */
const PROJECT: readonly (readonly [client: string, path: string, dialect: Dialect])[] = [
  ['Claude Code', '.mcp.json', 'servers-json'],
  ['Cursor', '.cursor/mcp.json', 'servers-json'],
  ['VS Code', '.vscode/mcp.json', 'servers-json'],
  ['VS Code', '.vscode/settings.json', 'vscode-settings'],
  ['Gemini CLI', '.gemini/settings.json', 'servers-json'],
  ['Codex', '.codex/config.toml', 'codex-toml'],
  // As the clients call them, where a user copied one into the folder.
  ['Claude Desktop', 'claude_desktop_config.json', 'servers-json'],
  ['Windsurf', 'mcp_config.json', 'servers-json'],
  ['an MCP client', 'mcp.json', 'servers-json'],
];

/** Paths of the user, below the home folder, on Linux and on macOS. */
const USER: readonly (readonly [client: string, path: string, dialect: Dialect])[] = [
  ['Claude Code', '.claude.json', 'claude-json'],
  ['Claude Desktop', '.config/Claude/claude_desktop_config.json', 'servers-json'],
  ['Claude Desktop', 'Library/Application Support/Claude/claude_desktop_config.json', 'servers-json'],
  ['Cursor', '.cursor/mcp.json', 'servers-json'],
  ['VS Code', '.config/Code/User/mcp.json', 'servers-json'],
  ['VS Code', '.config/Code/User/settings.json', 'vscode-settings'],
  ['VS Code', 'Library/Application Support/Code/User/mcp.json', 'servers-json'],
  ['Windsurf', '.codeium/windsurf/mcp_config.json', 'servers-json'],
  ['Gemini CLI', '.gemini/settings.json', 'servers-json'],
  ['Codex', '.codex/config.toml', 'codex-toml'],
];

/** Every file that may be there, those of the project first: where two name one app, the first counts. */
export function clientFiles(folder: string, home: string): readonly ClientFile[] {
  const at = (base: string, scope: ClientFile['scope'], files: typeof PROJECT) =>
    files.map(([client, path, dialect]): ClientFile => ({ client, path: join(base, path), dialect, scope }));
  const project = at(folder, 'project', PROJECT);
  // In the home folder both are the same files.
  const known = new Set(project.map(({ path }) => path));
  return [...project, ...at(home, 'user', USER).filter(({ path }) => !known.has(path))];
}
