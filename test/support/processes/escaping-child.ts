/**
 * A parser process whose parser does what JavaScript that an input has taken over might try, as the document
 * asks; none of it must succeed.
 */

import { execFileSync } from "node:child_process";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { dirname } from "node:path";
import { Worker } from "node:worker_threads";
import type { ParsedDocument } from "../../../src/domain/text-unit.ts";
import { serveParsers } from "../../../src/parsers/process/child-serve.ts";
import type { ParseInput, Parser } from "../../../src/parsers/parser.ts";

async function connected(address: string): Promise<string> {
  const [host, port] = address.split(" ");
  await once(connect(Number(port), host), "connect");
  return "connected";
}

async function sent(address: string): Promise<string> {
  const [host = "", port] = address.split(" ");
  const socket = createSocket("udp4");
  await new Promise<void>((resolve, reject) => {
    socket.once("error", reject);
    socket.send("secret", Number(port), host, (error) => (error ? reject(error) : resolve()));
  });
  return "sent";
}

function loaded(addon: string): string {
  process.dlopen({ exports: {} }, addon);
  return "loaded";
}

/** Each returns what it got; the test decides whether that is a success. */
const ATTEMPTS: Record<string, (argument: string, input: ParseInput) => string | Promise<string>> = {
  read: (path) => readFileSync(path, "latin1"),
  list: (path) => readdirSync(path).join(" "),
  readInput: (_, { path }) => readFileSync(path ?? "", "utf8").slice(-100),
  overwriteInput(_, { path }) {
    writeFileSync(path ?? "", "changed");
    return "written";
  },
  ownFolder: () => dirname(tmpdir()),
  write(path) {
    writeFileSync(path, "written");
    return "written";
  },
  writeScratch() {
    writeFileSync(`${tmpdir()}/file`, "written");
    return readFileSync(`${tmpdir()}/file`, "utf8");
  },
  spawn: (program) => execFileSync(program, { encoding: "utf8" }),
  thread(path) {
    new Worker(`require("node:fs").readFileSync(${JSON.stringify(path)})`, { eval: true });
    return "started";
  },
  load: loaded,
  connect: connected,
  send: sent,
  signalParent: () => String(process.kill(process.ppid, 0)),
  parent: () => String(process.ppid),
  user: () => `${process.getuid?.()} ${process.getgid?.()} ${process.getgroups?.().join(",")}`,
  allocate: (bytes) => String(Buffer.allocUnsafeSlow(Number(bytes)).length),
};

/**
 * Reads the document as `attempt argument…`; the text that is returned is what the attempt got, or the code
 * of the error that stopped it.
 */
async function attempt(input: ParseInput): Promise<ParsedDocument> {
  const written = input.bytes === undefined ? (input.name ?? "") : Buffer.from(input.bytes).toString();
  const [name = "", ...rest] = written.split(" ");
  const tried = ATTEMPTS[name];
  if (tried === undefined) throw new Error(`No attempt is called ${name}.`);
  const text = await (async () => tried(rest.join(" "), input))().catch(
    (error: NodeJS.ErrnoException) => `stopped: ${error.code ?? error.message}`,
  );
  return {
    parser_name: "escaping",
    units: [{ type: "paragraph", text, page: null, heading_path: [] }],
    page_count: null,
    metadata: {},
    warnings: [],
  };
}

const escaping: Parser = { name: "escaping", runsIn: "child", parse: attempt };

await serveParsers({ parsers: () => escaping, warmUp: async () => undefined });
