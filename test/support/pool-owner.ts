/** A process that owns a parser pool with one child in an endless loop and one idle, for a test that kills it. */

import { createParserPool } from "../../src/parsers/child-process.ts";

const pool = createParserPool({ size: 2, entry: new URL("./misbehaving-child.ts", import.meta.url) });
void pool.parse({ fileType: "TEXT", bytes: Buffer.from(`spin:${process.argv[2] ?? ""}`) });
