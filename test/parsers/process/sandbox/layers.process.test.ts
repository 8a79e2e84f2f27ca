/** What each layer prevents by itself, for code that Node's permission model does not restrict. */

import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { kernelLayers, type Layer, type LayerName } from "../../../../src/parsers/process/sandbox/layers.ts";
import { probeUserId } from "../../../../src/parsers/process/sandbox/own-user.ts";
import { prepareSandbox, type Sandbox } from "../../../../src/parsers/process/sandbox/sandbox.ts";
import { unless } from "../../../support/run/unless.ts";

const MEBIBYTE = 1024 * 1024;
const entry = new URL("../../../support/processes/escaping-child.ts", import.meta.url);
const run = promisify(execFile);
const layers = kernelLayers();
const isLinux = process.platform === "linux";

let folder: string;
let server: Server;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "layers-test-"));
  chmodSync(folder, 0o755);
  mkdirSync(join(folder, "scratch"));
  chmodSync(join(folder, "scratch"), 0o777);
  server = createServer((socket) => socket.destroy()).listen(0, "127.0.0.1");
  await once(server, "listening");
});
afterAll(() => {
  server.close();
  rmSync(folder, { recursive: true });
});

const port = (): number => (server.address() as AddressInfo).port;
const only = (name: LayerName): Layer[] => layers.filter((layer) => layer.name === name);
/** Why this machine does not have the layer; undefined if it does. */
function whyNot(name: LayerName): string | undefined {
  const layer = isLinux ? layers.find((each) => each.name === name) : undefined;
  if (layer === undefined) return "needs Linux";
  return layer.tool === undefined ? `the tool of the layer ${name} is not installed` : layer.impossible;
}

function commandBehind(
  sandbox: Sandbox,
  code: string,
  limits = { cpuSeconds: 60, dataBytes: 4096 * MEBIBYTE },
): [string, string[]] {
  const confined = { entry, folder, scratch: join(folder, "scratch"), userId: probeUserId(), ...limits };
  const [program, ...rest] = [
    ...sandbox.around(confined),
    process.execPath,
    "--openssl-config=/dev/null",
    "--eval",
    code,
  ];
  return [program, rest];
}

const TRIED = `
const tried = async (work) => {
  try {
    return String(await work());
  } catch (error) {
    return error.code ?? error.message;
  }
};`;

/**
 * Runs code behind these layers, without Node's permission model, and returns its output. `tried` is a
 * function for the code: it returns the result of a function, or the code of the error that stopped it.
 */
async function behind(which: readonly Layer[], code: string): Promise<string> {
  const sandbox = await prepareSandbox({ entry, folder, layers: which });
  expect(sandbox.off).toEqual([]);
  const [program, rest] = commandBehind(sandbox, `${TRIED}(async () => { console.log(await ${code}); })();`);
  return (await run(program, rest, { env: {} })).stdout.trim();
}

const connects = (): string => `tried(() => new Promise((resolve, reject) => {
  const socket = require("net").connect(${port()}, "127.0.0.1");
  socket.on("connect", () => resolve("connected")).on("error", reject);
}))`;
const reads = (path: string): string =>
  `tried(() => require("fs").readFileSync(${JSON.stringify(path)}).length)`;

describe("without a network", unless(whyNot("network")), () => {
  test("nothing on this machine and nothing beyond it is reached", async () => {
    expect(await behind([], connects())).toBe("connected");
    expect(await behind(only("network"), connects())).toBe("ENETUNREACH");
  });
});

describe("as a user of its own", unless(whyNot("user")), () => {
  test.each(["environ", "mem", "maps", "fd/0", "cwd/package.json"])(
    "the worker's /proc/…/%s is closed",
    async (name) => {
      expect(await behind(only("user"), reads(`/proc/${process.pid}/${name}`))).toBe("EACCES");
    },
  );

  test("it cannot read files that only the worker may read, nor send signals to the worker", async () => {
    const path = join(folder, "private");
    writeFileSync(path, "private", { mode: 0o600 });
    expect(await behind(only("user"), reads(path))).toBe("EACCES");
    expect(await behind(only("user"), `tried(() => process.kill(${process.pid}, 0))`)).toBe("EPERM");
  });

  test("neither it nor a program that it runs has a capability", async () => {
    const status = await behind(
      only("user"),
      `tried(() => require("fs").readFileSync("/proc/self/status", "utf8"))`,
    );
    for (const set of ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"])
      expect(status).toMatch(new RegExp(`${set}:\\s+0{16}`));
  });
});

describe("without privileges", unless(whyNot("privileges")), () => {
  test("no program that it runs gains any", async () => {
    expect(
      await behind(
        only("privileges"),
        `tried(() => require("fs").readFileSync("/proc/self/status", "utf8"))`,
      ),
    ).toMatch(/NoNewPrivs:\s+1/);
  });

  test("it dies with the process that started it", async () => {
    const sandbox = await prepareSandbox({ entry, folder, layers: only("privileges") });
    const [program, rest] = commandBehind(sandbox, `console.log(process.pid); for (;;);`);
    const starts = `
      const { spawn } = require("child_process");
      const stdio = ["ignore", "inherit", "ignore"];
      spawn(${JSON.stringify(program)}, ${JSON.stringify(rest)}, { stdio });
      setInterval(() => {}, 1000);`;
    const parent = spawn(process.execPath, ["--eval", starts], { stdio: ["ignore", "pipe", "ignore"] });
    const [bytes] = (await once(parent.stdout, "data")) as [Buffer];
    const child = Number(bytes.toString());
    parent.kill("SIGKILL");
    await expect.poll(() => tryKill(child), { timeout: 10_000 }).toBe("gone");
  });
});

describe("with rules over files", unless(whyNot("files")), () => {
  test("nothing but code, libraries and its own folder is read", async () => {
    const own = join(folder, "own.txt");
    writeFileSync(own, "own");
    expect(await behind(only("files"), reads(own))).toBe("3");
    expect(await behind(only("files"), reads(process.execPath))).not.toMatch(/^E/);
    for (const path of [
      "/etc/passwd",
      `/proc/${process.pid}/environ`,
      `/proc/${process.pid}/mem`,
      join(process.cwd(), "README.md"),
    ])
      expect(await behind(only("files"), reads(path))).toBe("EACCES");
  });

  test("nothing but its scratch folder is written, and nothing there is run", async () => {
    const writes = (path: string): string =>
      `tried(() => require("fs").writeFileSync(${JSON.stringify(path)}, "#!/bin/sh\\n", { mode: 0o755 }))`;
    const program = join(folder, "scratch", "program");
    expect(await behind(only("files"), writes(join(folder, "written")))).toBe("EACCES");
    expect(await behind(only("files"), writes(program))).toBe("undefined");
    expect(
      await behind(
        only("files"),
        `tried(() => require("child_process").execFileSync(${JSON.stringify(program)}))`,
      ),
    ).toBe("EACCES");
  });
});

describe("with rules over system calls", unless(whyNot("calls")), () => {
  test.each([
    ["a socket", () => connects(), /^EPERM$/],
    [
      "a program",
      () => `tried(() => require("child_process").execFileSync("/bin/true"))`,
      /^(EPERM|EAGAIN)$/,
    ],
    ["a signal to another process", () => `tried(() => process.kill(${process.pid}, 0))`, /^EPERM$/],
    ["a signal to its group, which is the worker's", () => `tried(() => process.kill(0, 0))`, /^EPERM$/],
  ])("%s is refused", async (_what, code, refusal) => {
    expect(await behind([], code())).not.toMatch(refusal);
    expect(await behind(only("calls"), code())).toMatch(refusal);
  });

  test("signals to itself and threads of its own are allowed", async () => {
    expect(await behind(only("calls"), `tried(() => process.kill(process.pid, 0))`)).toBe("true");
    expect(
      await behind(
        only("calls"),
        `tried(() => {
          const { Worker } = require("worker_threads");
          return new Promise((done) => new Worker("", { eval: true }).on("exit", done));
        })`,
      ),
    ).toBe("0");
  });
});

describe("with limits", unless(whyNot("limits")), () => {
  const ends = async (
    code: string,
    limits: { cpuSeconds: number; dataBytes: number },
  ): Promise<{ signal: string | null; stderr: string }> => {
    const sandbox = await prepareSandbox({ entry, folder, layers: only("limits") });
    const [program, rest] = commandBehind(sandbox, code, limits);
    const child = spawn(program, rest, { env: {}, stdio: ["ignore", "ignore", "pipe"] });
    let stderr = "";
    child.stderr.on("data", (text) => (stderr += text));
    const [, signal] = (await once(child, "close")) as [number | null, string | null];
    return { signal, stderr };
  };

  test("code over its processor time is ended, even if it ignores the first signal", async () => {
    expect(await ends("for (;;);", { cpuSeconds: 1, dataBytes: 4096 * MEBIBYTE })).toMatchObject({
      signal: "SIGXCPU",
    });
    expect(
      await ends(`process.on("SIGXCPU", () => {}); for (;;);`, { cpuSeconds: 1, dataBytes: 4096 * MEBIBYTE }),
    ).toMatchObject({ signal: "SIGKILL" });
  });

  test("code cannot reserve more memory than it may", async () => {
    const { stderr } = await ends(`Buffer.allocUnsafeSlow(3 * 1024 ** 3)`, {
      cpuSeconds: 60,
      dataBytes: 2048 * MEBIBYTE,
    });
    expect(stderr).toContain("Failed to allocate memory");
  });
});

function tryKill(pid: number): string {
  try {
    process.kill(pid, 0);
    return "there";
  } catch {
    return "gone";
  }
}
