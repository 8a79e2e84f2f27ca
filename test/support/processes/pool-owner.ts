/** A process that owns a parser pool with one child in an endless loop and one idle, for a test that kills it. Its arguments: a folder, and `none` for none of the kernel's layers. */

import { createParserPool } from "../../../src/parsers/process/child-process.ts";
import { prepareSandbox } from "../../../src/parsers/process/sandbox/sandbox.ts";

const [folder = "", layers] = process.argv.slice(2);
const entry = new URL("./misbehaving-child.ts", import.meta.url);
const sandbox = prepareSandbox({ entry, folder, layers: layers === "none" ? [] : undefined });
const pool = createParserPool({ size: 2, entry, folder, sandbox });
void pool.parse({ fileType: "TEXT", bytes: Buffer.from("spin:marker") });
