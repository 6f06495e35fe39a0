// The clients, all with the same few methods.

import * as sdk from '@modelcontextprotocol/sdk/client/index.js';
import * as sdkStdio from '@modelcontextprotocol/sdk/client/stdio.js';
import * as sdkHttp from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import * as older from 'sdk-of-2025-06-18/client/index.js';
import * as olderStdio from 'sdk-of-2025-06-18/client/stdio.js';
import * as olderHttp from 'sdk-of-2025-06-18/client/streamableHttp.js';
import * as newer from '@modelcontextprotocol/client';
import * as newerStdio from '@modelcontextprotocol/client/stdio';

const ME = { name: 'a client', version: '1' };

/** How to make each client, by the protocol version that it speaks. */
const KINDS = {
  '2025-06-18': () => ({
    client: new older.Client(ME),
    Stdio: olderStdio.StdioClientTransport,
    Http: olderHttp.StreamableHTTPClientTransport,
  }),
  '2025-11-25': () => ({
    client: new sdk.Client(ME),
    Stdio: sdkStdio.StdioClientTransport,
    Http: sdkHttp.StreamableHTTPClientTransport,
  }),
  '2026-07-28': () => ({
    client: new newer.Client(ME, { versionNegotiation: { mode: 'auto' } }),
    Stdio: newerStdio.StdioClientTransport,
    Http: newer.StreamableHTTPClientTransport,
    newer: true,
  }),
};

/**
 * A client of `version` that is connected: to the server at `server.url` if there is one, else to
 * one that it starts.
 */
export async function connected(version, server) {
  const { client, Stdio, Http, newer } = KINDS[version]();
  const { command, args, cwd, env } = server;
  const transport = server.url
    ? new Http(new URL(server.url))
    : new Stdio({ command, args, cwd, env, stderr: 'pipe' });
  let agreedOn;
  const agree = transport.setProtocolVersion?.bind(transport);
  transport.setProtocolVersion = (agreed) => {
    agreedOn = agreed;
    agree?.(agreed);
  };
  let printed = '';
  transport.stderr?.on('data', (data) => (printed += data));
  await client.connect(transport);
  const received = [];
  const handle = transport.onmessage;
  transport.onmessage = (message, extra) => {
    received.push(message);
    handle(message, extra);
  };
  return {
    client,
    /** Messages as they came, before the client leaves out what it does not know. */
    received,
    /** The version that both have agreed on. */
    version: () => agreedOn,
    /** What the server that was started has printed on stderr. */
    printed: () => printed,
    call: (name, args = {}, options = {}) =>
      newer
        ? client.callTool({ name, arguments: args }, options)
        : client.callTool({ name, arguments: args }, undefined, options),
    close: () => client.close(),
  };
}
