import { readFileSync } from "node:fs";
import { parserFor } from "./src/parsers/index.ts";
import { chunkLocations, unitLocations } from "./src/domain/locations/of-chunk.ts";
const file = process.argv[2]!,
  type = process.argv[3]!;
const doc = await parserFor(type as never).parse({
  fileType: type,
  bytes: readFileSync(file),
  path: file,
  name: file,
} as never);
for (const u of doc.units.slice(0, 6))
  console.log(
    u.type,
    JSON.stringify(u.text.slice(0, 60)),
    JSON.stringify(u.places)?.slice(0, 200),
    JSON.stringify(unitLocations(u))?.slice(0, 200),
  );
