/**
 * What well-known packages need, and what their tools do: facts that somebody looked up, so that a user need not. The user
 * sees and changes all of it before it takes effect.
 *
 * A package is known by its name alone: the registry decides who publishes under a name.
 */

export interface KnownPackage {
  /** What the planner reads. */
  readonly description: string;
  /** What paths in its arguments are for; absent: reading. */
  readonly paths?: 'read' | 'write';
  /** Hosts that it always asks, as entries of `network`. */
  readonly network?: readonly string[];
  /** Variables without which it does not work, and which are secrets. */
  readonly secrets?: Readonly<Record<string, string>>;
  /** Variables that name a file in which it keeps data, and the file's name in its own folder. */
  readonly keeps?: Readonly<Record<string, string>>;
  /** Tools that change nothing. */
  readonly reads?: readonly string[];
  /** What the user has to add, because nobody else can know it. */
  readonly note?: string;
}

const WRITES = 'write';

/** By name, of npm and of PyPI. */
const KNOWN: ReadonlyMap<string, KnownPackage> = new Map([
  [
    '@modelcontextprotocol/server-filesystem',
    {
      description: 'Reads, searches, writes and moves files in the folders that the user chose.',
      paths: WRITES,
      reads: [
        ...['directory_tree', 'get_file_info', 'list_allowed_directories', 'list_directory'],
        ...['list_directory_with_sizes', 'read_file', 'read_media_file', 'read_multiple_files'],
        ...['read_text_file', 'search_files'],
      ],
    },
  ],
  [
    '@modelcontextprotocol/server-memory',
    {
      description: 'Remembers people, things and how they are related, and finds them again.',
      keeps: { MEMORY_FILE_PATH: 'memory.jsonl' },
      reads: ['open_nodes', 'read_graph', 'search_nodes'],
    },
  ],
  [
    '@modelcontextprotocol/server-everything',
    {
      description:
        'Shows every feature of the protocol, for tests: echoes texts, adds numbers, returns an image.',
      reads: ['echo', 'get-annotated-message', 'get-structured-content', 'get-sum', 'get-tiny-image'],
    },
  ],
  [
    '@modelcontextprotocol/server-sequential-thinking',
    { description: 'Notes the steps of a longer thought.', reads: ['sequentialthinking'] },
  ],
  [
    '@codefuturist/email-mcp',
    { description: 'Searches, reads, sends, moves and deletes the mails of the user’s mailbox.' },
  ],
  [
    '@modelcontextprotocol/server-github',
    {
      description: 'Reads and changes repositories, issues and pull requests at GitHub.',
      network: ['=api.github.com'],
      secrets: { GITHUB_PERSONAL_ACCESS_TOKEN: 'a personal access token of GitHub' },
    },
  ],
  [
    '@modelcontextprotocol/server-gitlab',
    {
      description: 'Reads and changes projects, issues and merge requests at GitLab.',
      network: ['=gitlab.com'],
      secrets: { GITLAB_PERSONAL_ACCESS_TOKEN: 'a personal access token of GitLab' },
    },
  ],
  [
    '@modelcontextprotocol/server-brave-search',
    {
      description: 'Searches the web.',
      network: ['=api.search.brave.com'],
      secrets: { BRAVE_API_KEY: 'a key of the Brave Search API' },
    },
  ],
  [
    '@modelcontextprotocol/server-google-maps',
    {
      description: 'Finds places, routes and distances on the map.',
      network: ['=maps.googleapis.com', '=places.googleapis.com', '=routes.googleapis.com'],
      secrets: { GOOGLE_MAPS_API_KEY: 'a key of the Google Maps API' },
    },
  ],
  [
    '@modelcontextprotocol/server-slack',
    {
      description: 'Reads and writes messages in the channels of a Slack workspace.',
      network: ['=slack.com'],
      secrets: { SLACK_BOT_TOKEN: 'the token of the bot, which begins with xoxb-' },
    },
  ],
  [
    '@modelcontextprotocol/server-everart',
    {
      description: 'Makes images from descriptions.',
      network: ['=api.everart.ai'],
      secrets: { EVERART_API_KEY: 'a key of EverArt' },
    },
  ],
  [
    '@modelcontextprotocol/server-postgres',
    { description: 'Queries a PostgreSQL database.', reads: ['query'] },
  ],
  ['@modelcontextprotocol/server-redis', { description: 'Reads and changes keys in a Redis database.' }],
  [
    'mcp-server-fetch',
    {
      description: 'Fetches web pages of the sites that the user chose.',
      note: 'add each site that it may read to its network; there is no entry for every site',
    },
  ],
  ['mcp-server-git', { description: 'Reads and changes a Git repository.', paths: WRITES }],
  [
    'mcp-server-time',
    {
      description: 'Tells the time, and converts it between time zones.',
      reads: ['convert_time', 'get_current_time'],
    },
  ],
  ['mcp-server-sqlite', { description: 'Queries and changes an SQLite database.', paths: WRITES }],
  ['mcp-server-sentry', { description: 'Reads issues of Sentry.', network: ['=sentry.io'] }],
]);

/** Null: this package is not in the list. */
export function knownPackage(name: string): KnownPackage | null {
  return KNOWN.get(name) ?? null;
}

/** Packages to use instead of images that `docker run` starts. */
const OF_IMAGES: ReadonlyMap<string, string> = new Map([
  ...[
    'filesystem',
    'memory',
    'everything',
    'sequentialthinking',
    'github',
    'gitlab',
    'slack',
    'postgres',
  ].map((name): [string, string] => [
    `mcp/${name}`,
    `npx -y @modelcontextprotocol/server-${name === 'sequentialthinking' ? 'sequential-thinking' : name}`,
  ]),
  ...['brave-search', 'google-maps', 'everart', 'redis'].map((name): [string, string] => [
    `mcp/${name}`,
    `npx -y @modelcontextprotocol/server-${name}`,
  ]),
  ...['fetch', 'git', 'time', 'sqlite', 'sentry'].map((name): [string, string] => [
    `mcp/${name}`,
    `uvx mcp-server-${name}`,
  ]),
]);

/** The command for what an image of this name contains, where one is known. */
export function commandOfImage(words: readonly string[]): string | null {
  const images = words.map((word) => word.replace(/^docker\.io\//, '').replace(/:[\w.-]+$/, ''));
  return images.map((image) => OF_IMAGES.get(image)).find((command) => command !== undefined) ?? null;
}
