/**
 * An app that runs elsewhere, with the authorization server that issues its tokens: two real HTTP servers on loopback. The page for
 * logging in agrees to everything at once. Both can be told to misbehave.
 */
import { createHash, randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';

/** A request that one of the servers got. */
export interface Heard {
  readonly at: 'app' | 'issuer';
  readonly method: string;
  readonly path: string;
  readonly authorization: string | null;
  readonly form: URLSearchParams;
  readonly body: string;
}

type Document = Record<string, unknown>;

/** What a server says or does that is not as it should be. */
export interface RemoteAppOptions {
  /** Changes what the app's server says of itself; null: it says nothing (404). */
  readonly resourceMetadata?: ((usual: Document) => Document) | null;
  /** Changes what the authorization server says of itself. */
  readonly issuerMetadata?: (usual: Document) => Document;
  /** Changes the query with which the browser comes back. */
  readonly answer?: (usual: URLSearchParams) => void;
  /** Answers a request in the place of the server; false: it is answered as usual. */
  readonly instead?: (request: Heard, response: ServerResponse) => boolean;
  /** Changes the answer to a request for tokens. */
  readonly tokens?: (usual: Document) => Document;
  /** How long access tokens last. */
  readonly seconds?: number;
  /** What a call of a tool needs, beside what everything needs. */
  readonly callScope?: string;
}

interface Grant {
  readonly client: string;
  readonly scope: string;
}

/** What everything needs. */
const SCOPE = 'notes:read';

export class RemoteApp {
  readonly heard: Heard[] = [];
  /** Every token and code that was ever given. */
  readonly secrets: string[] = [];
  readonly #servers: readonly [app: Server, issuer: Server];
  readonly #options: RemoteAppOptions;
  readonly #codes = new Map<string, Grant & { challenge: string; redirect: string; resource: string }>();
  readonly #access = new Map<string, Grant>();
  readonly #refresh = new Map<string, Grant>();
  readonly #used = new Set<string>();
  readonly #clients = new Map<string, { redirects: readonly string[]; secret: string | null }>();

  private constructor(options: RemoteAppOptions) {
    this.#options = options;
    this.#servers = [
      createServer((...ends) => void this.#serve('app', ...ends)),
      createServer((...ends) => void this.#serve('issuer', ...ends)),
    ];
  }

  static async start(options: RemoteAppOptions = {}): Promise<RemoteApp> {
    const remote = new RemoteApp(options);
    for (const server of remote.#servers)
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return remote;
  }

  get url(): string {
    return `${originOf(this.#servers[0])}/mcp`;
  }

  get issuer(): string {
    return originOf(this.#servers[1]);
  }

  /** Every access token ends; refresh tokens still renew. */
  expire(): void {
    this.#access.clear();
  }

  /** The user or the server takes everything back. */
  forget(): void {
    this.#access.clear();
    this.#refresh.clear();
  }

  /** Requests with which tokens were asked for in this way. */
  grants(type: string): readonly Heard[] {
    return this.heard.filter(({ path, form }) => path === '/token' && form.get('grant_type') === type);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const server of this.#servers) {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }
  }

  async #serve(at: Heard['at'], incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(incoming.url ?? '', 'http://host');
    const body = await text(incoming);
    const heard: Heard = {
      at,
      method: incoming.method ?? '',
      path: url.pathname,
      authorization: incoming.headers.authorization ?? null,
      form: incoming.method === 'GET' ? url.searchParams : new URLSearchParams(body),
      body,
    };
    this.heard.push(heard);
    if (this.#options.instead?.(heard, response) === true) return;
    if (at === 'app') this.#answerApp(heard, response);
    else this.#answerIssuer(heard, response);
  }

  #answerApp(heard: Heard, response: ServerResponse): void {
    const { resourceMetadata = (usual) => usual } = this.#options;
    if (heard.path.startsWith('/.well-known/oauth-protected-resource')) {
      if (resourceMetadata === null) return send(response, 404, {});
      const usual = { resource: this.url, authorization_servers: [this.issuer], scopes_supported: [SCOPE] };
      return send(response, 200, resourceMetadata(usual));
    }
    if (heard.path !== '/mcp') return send(response, 404, {});
    const token = /^Bearer (.+)$/.exec(heard.authorization ?? '')?.[1] ?? '';
    const grant = this.#access.get(token);
    const metadata = `resource_metadata="${originOf(this.#servers[0])}/.well-known/oauth-protected-resource/mcp"`;
    if (grant === undefined) return challenge(response, 401, `Bearer scope="${SCOPE}", ${metadata}`);
    if (heard.method !== 'POST') return send(response, 405, {});
    const { id, method } = JSON.parse(heard.body) as { id?: number; method: string };
    const { callScope = SCOPE } = this.#options;
    if (method === 'tools/call' && !grant.scope.split(' ').includes(callScope))
      return challenge(response, 403, `Bearer error="insufficient_scope", scope="${callScope}", ${metadata}`);
    if (id === undefined) return void response.writeHead(202).end();
    send(response, 200, { jsonrpc: '2.0', id, result: RESULTS[method] ?? {} });
  }

  #answerIssuer(heard: Heard, response: ServerResponse): void {
    switch (heard.path) {
      case '/.well-known/oauth-authorization-server':
        return send(response, 200, this.#issuerMetadata());
      case '/register':
        return this.#register(heard, response);
      case '/authorize':
        return this.#authorize(heard.form, response);
      case '/token':
        return this.#token(heard, response);
      case '/revoke':
        this.#revoke(heard.form.get('token') ?? '');
        return send(response, 200, {});
      default:
        return send(response, 404, {});
    }
  }

  #issuerMetadata(): Document {
    const { issuerMetadata = (usual) => usual } = this.#options;
    return issuerMetadata({
      issuer: this.issuer,
      authorization_endpoint: `${this.issuer}/authorize`,
      token_endpoint: `${this.issuer}/token`,
      registration_endpoint: `${this.issuer}/register`,
      revocation_endpoint: `${this.issuer}/revoke`,
      response_types_supported: ['code'],
      code_challenge_methods_supported: ['S256'],
      token_endpoint_auth_methods_supported: ['none'],
      authorization_response_iss_parameter_supported: true,
      scopes_supported: [SCOPE, 'notes:write', 'offline_access'],
    });
  }

  #register({ body }: Heard, response: ServerResponse): void {
    const { redirect_uris: redirects } = JSON.parse(body) as { redirect_uris: string[] };
    const id = this.#secret('client');
    this.#clients.set(id, { redirects, secret: null });
    send(response, 201, { client_id: id, redirect_uris: redirects, token_endpoint_auth_method: 'none' });
  }

  #authorize(asked: URLSearchParams, response: ServerResponse): void {
    const redirect = asked.get('redirect_uri') ?? '';
    const client = asked.get('client_id') ?? '';
    const known = this.#clients.get(client)?.redirects.includes(redirect) === true;
    if (!known || asked.get('code_challenge_method') !== 'S256') return send(response, 400, {});
    const code = this.#secret('code');
    this.#codes.set(code, {
      client,
      redirect,
      scope: asked.get('scope') ?? '',
      challenge: asked.get('code_challenge') ?? '',
      resource: asked.get('resource') ?? '',
    });
    const query = new URLSearchParams({ code, state: asked.get('state') ?? '', iss: this.issuer });
    this.#options.answer?.(query);
    response.writeHead(302, { location: `${redirect}?${query}` }).end();
  }

  #token({ form }: Heard, response: ServerResponse): void {
    const grant = form.get('grant_type') === 'refresh_token' ? this.#renewal(form) : this.#exchange(form);
    if (grant === null || form.get('resource') !== this.url)
      return send(response, 400, { error: 'invalid_grant' });
    const [access, refresh] = [this.#secret('access'), this.#secret('refresh')];
    this.#access.set(access, grant);
    this.#refresh.set(refresh, grant);
    const { seconds = 3600, tokens = (usual) => usual } = this.#options;
    send(
      response,
      200,
      tokens({
        access_token: access,
        refresh_token: refresh,
        token_type: 'Bearer',
        expires_in: seconds,
        scope: grant.scope,
      }),
    );
  }

  #exchange(form: URLSearchParams): Grant | null {
    const code = form.get('code') ?? '';
    const kept = this.#codes.get(code);
    this.#codes.delete(code);
    const challenged = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    const isRight =
      kept?.challenge === challenged &&
      kept.redirect === form.get('redirect_uri') &&
      kept.resource === this.url &&
      kept.client === form.get('client_id');
    return isRight ? kept : null;
  }

  /** A refresh token is good once; one that is shown again was stolen, and everything is taken back. */
  #renewal(form: URLSearchParams): Grant | null {
    const token = form.get('refresh_token') ?? '';
    if (this.#used.has(token)) this.forget();
    this.#used.add(token);
    const grant = this.#refresh.get(token) ?? null;
    this.#refresh.delete(token);
    return grant;
  }

  #revoke(token: string): void {
    this.#access.delete(token);
    this.#refresh.delete(token);
  }

  #secret(kind: string): string {
    const secret = `${kind}-${randomBytes(12).toString('hex')}`;
    if (kind !== 'client') this.secrets.push(secret);
    return secret;
  }
}

/** Answers of the app, by method. */
const RESULTS: Readonly<Record<string, unknown>> = {
  initialize: {
    protocolVersion: '2025-11-25',
    capabilities: { tools: {} },
    serverInfo: { name: 'notes', version: '1.0.0' },
  },
  'tools/list': {
    tools: [
      {
        name: 'read_note',
        description: 'Reads a note.',
        inputSchema: { type: 'object', properties: {} },
        annotations: { readOnlyHint: true },
      },
    ],
  },
  'tools/call': { content: [{ type: 'text', text: 'milk, bread' }] },
};

function originOf(server: Server): string {
  const address = server.address();
  return `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
}

function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

function challenge(response: ServerResponse, status: number, header: string): void {
  response.writeHead(status, { 'content-type': 'application/json', 'www-authenticate': header }).end('{}');
}
