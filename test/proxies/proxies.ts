/**
 * Starts the proxies of deploy/proxy: each with its program, and with its file in which names, ports and
 * paths are replaced by those of the trial.
 */
import { execFile, spawn } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { debianProgram } from "../support/servers/debian-program.ts";
import { type TestProcess, watch } from "../support/stack/processes.ts";

const FILES = join(import.meta.dirname, "../../deploy/proxy");
const PREFIX = "\n  ";

interface Place {
  readonly folder: string;
  readonly port: number;
  readonly apiPort: number;
}

export interface ProxyKind {
  readonly name: string;
  readonly packages: readonly string[];
  readonly file: string;
  /** What is replaced in the file, and by what; the file must contain each. */
  replaced(place: Place): readonly (readonly [string, string])[];
  /** Adds what the program needs besides the file. */
  around?(text: string, place: Place): string;
  args(file: string, place: Place): readonly string[];
}

export const PROXIES: readonly ProxyKind[] = [
  {
    name: "nginx",
    packages: ["nginx"],
    file: "nginx.conf",
    replaced: ({ folder, port, apiPort }) => [
      ["127.0.0.1:8080", `127.0.0.1:${apiPort}`],
      ["listen 443 ssl", `listen 127.0.0.1:${port} ssl`],
      ["/etc/ssl/holdfast/fullchain.pem", join(folder, "chain.pem")],
      ["/etc/ssl/holdfast/privkey.pem", join(folder, "key.pem")],
    ],
    around: (text, { folder }) => {
      const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .map((name) => `${name}_temp_path ${join(folder, name)};`)
        .join(PREFIX);
      return (
        `pid ${join(folder, "nginx.pid")};\nerror_log stderr warn;\nevents {}\n` +
        `http {\n  access_log off;${PREFIX}${temporary}\n${text}}\n`
      );
    },
    args: (file, { folder }) => ["-p", folder, "-e", "stderr", "-c", file, "-g", "daemon off;"],
  },
  {
    name: "caddy",
    packages: ["caddy"],
    file: "Caddyfile",
    replaced: ({ folder, port, apiPort }) => [
      ["127.0.0.1:8080", `127.0.0.1:${apiPort}`],
      [
        "holdfast.example.com {",
        `https://localhost:${port} {\n\ttls ${join(folder, "chain.pem")} ${join(folder, "key.pem")}`,
      ],
    ],
    around: (text) => `{\n\tadmin off\n\tauto_https off\n}\n${text}`,
    args: (file) => ["run", "--adapter", "caddyfile", "--config", file],
  },
  {
    name: "haproxy",
    packages: ["haproxy", "liblua5.3-0", "libopentracing-c-wrapper0", "libopentracing1"],
    file: "haproxy.cfg",
    replaced: ({ folder, port, apiPort }) => [
      ["127.0.0.1:8080", `127.0.0.1:${apiPort}`],
      ["bind :443", `bind 127.0.0.1:${port}`],
      ["/etc/ssl/holdfast/holdfast.pem", join(folder, "both.pem")],
    ],
    args: (file) => ["-db", "-f", file],
  },
];

/** Makes a certificate for a day, in the forms that the three programs need. */
export async function certify(folder: string): Promise<void> {
  const key = join(folder, "key.pem");
  const chain = join(folder, "chain.pem");
  await promisify(execFile)("openssl", [
    "req",
    "-x509",
    "-newkey",
    "rsa:2048",
    "-nodes",
    "-days",
    "1",
    "-subj",
    "/CN=localhost",
    "-keyout",
    key,
    "-out",
    chain,
  ]);
  await writeFile(join(folder, "both.pem"), `${await readFile(chain, "utf8")}${await readFile(key, "utf8")}`);
}

/**
 * Starts the proxy on its file.
 * @throws Error if the file lacks what the trial has to replace
 */
export async function startProgram(kind: ProxyKind, place: Place): Promise<TestProcess> {
  const programs = join(place.folder, "programs", kind.name);
  await mkdir(programs, { recursive: true });
  const program = await debianProgram(kind, programs);
  let text = await readFile(join(FILES, kind.file), "utf8");
  for (const [from, to] of kind.replaced(place)) {
    if (!text.includes(from)) throw new Error(`deploy/proxy/${kind.file} has no "${from}".`);
    text = text.replace(from, to);
  }
  const file = join(place.folder, kind.file);
  await writeFile(file, kind.around?.(text, place) ?? text);
  const env = { PATH: process.env["PATH"], HOME: place.folder, ...program.env };
  return watch(spawn(program.path, kind.args(file, place), { env, stdio: ["ignore", "pipe", "pipe"] }));
}
