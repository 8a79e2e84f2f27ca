/**
 * Takes away what a stack depends on: a TCP relay in front of a server can be cut or go silent without
 * disturbing the server's other clients.
 */
import { connect, createServer, type Server, type Socket } from "node:net";
import type { AddressInfo } from "node:net";

export interface Relay {
  /** Stays the same after cuts. */
  readonly port: number;
  /** Closes every connection and refuses new ones. */
  cut(): Promise<void>;
  /** Accepts connections again and passes on what was held back. */
  restore(): Promise<void>;
  /** Accepts connections and bytes but passes nothing on. */
  silence(): void;
  /** Calls the listener with the bytes that clients send, as they arrive. */
  tap(listener: (bytes: Buffer) => void): void;
  close(): Promise<void>;
}

interface Target {
  readonly host: string;
  readonly port: number;
}

const LOOPBACK = "127.0.0.1";

/** Listens on a free port of this machine and passes everything on to `target`. */
async function startRelay(target: Target): Promise<Relay> {
  const open = new Set<readonly [client: Socket, server: Socket]>();
  const listeners: ((bytes: Buffer) => void)[] = [];
  let isSilent = false;
  const accept = (client: Socket): void => {
    const server = connect(target.port, target.host);
    const pair = [client, server] as const;
    open.add(pair);
    const end = (): void => {
      open.delete(pair);
      client.destroy();
      server.destroy();
    };
    for (const socket of pair) socket.setNoDelay(true).on("error", end).on("close", end);
    client.on("data", (bytes) => listeners.forEach((listener) => listener(bytes)));
    client.pipe(server).pipe(client);
    if (isSilent) hold(pair);
  };
  let listening = await listenOn(accept, 0);
  const { port } = listening.address() as AddressInfo;
  const cut = async (): Promise<void> => {
    const closed = new Promise<void>((resolve) => listening.close(() => resolve()));
    for (const pair of open) for (const socket of pair) socket.destroy();
    await closed;
  };
  return {
    port,
    cut,
    async restore() {
      isSilent = false;
      for (const pair of open) release(pair);
      if (!listening.listening) listening = await listenOn(accept, port);
    },
    silence() {
      isSilent = true;
      for (const pair of open) hold(pair);
    },
    tap: (listener) => void listeners.push(listener),
    close: cut,
  };
}

type Pair = readonly [client: Socket, server: Socket];

function hold([client, server]: Pair): void {
  client.unpipe(server).pause();
  server.unpipe(client).pause();
}

function release([client, server]: Pair): void {
  client.pipe(server).pipe(client);
}

async function listenOn(accept: (client: Socket) => void, port: number): Promise<Server> {
  const server = createServer(accept);
  await new Promise<void>((resolve, reject) => server.once("error", reject).listen(port, LOOPBACK, resolve));
  return server;
}

/** Returns the URL with the relay's address. */
export function through(url: string, relay: Relay): string {
  return Object.assign(new URL(url), { hostname: LOOPBACK, port: String(relay.port) }).toString();
}

/** Starts a relay in front of the server that the URL names. */
export function relayTo(url: string): Promise<Relay> {
  const { hostname, port } = new URL(url);
  return startRelay({ host: hostname, port: Number(port) });
}
