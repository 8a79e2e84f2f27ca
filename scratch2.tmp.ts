import { inTenant } from "/work/main/src/db/pool.ts";
import { migrate } from "/work/main/src/db/migrate.ts";
import { newId } from "/work/main/src/domain/ids.ts";
import { declareUpload, acceptNewDocument } from "/work/main/src/db/uploads.ts";
import { findDocument } from "/work/main/src/db/documents.ts";
import { openSharedDeps } from "./src/deps.ts";
import { loadConfig, requireReal } from "./src/config.ts";
import { openDatabase } from "./src/db/pool.ts";
import { objectName } from "./src/storage/object-store.ts";
const config = requireReal(loadConfig());
const d0 = openDatabase({ url: config.database.url, poolSize: 4, onIdleError: console.error });
await migrate(d0); await d0.close();
const deps = await openSharedDeps(config, "scratch");
const { db } = deps;
const org = newId(), user = newId(), space = newId();
await db.owner.query("insert into organizations(id,name) values($1,$2)", [org, org]);
await db.owner.query("insert into users(id,organization_id,email,name,role) values($1,$2,$3,'x','admin')", [user, org, user + "@x"]);
await db.owner.query("insert into spaces(id,organization_id,name,owner_id) values($1,$2,'s',$3)", [space, org, user]);
const num = (await db.owner.query("select num from organizations where id=$1", [org])).rows[0].num;
const o = { id: org, num };
const principal: any = { organization: o, reach: new Map([[space, { id: space, num: 1, role: "owner" }]]) };
const N = Number(process.argv[2] ?? 1);
const one = async (i: number) => {
  const id = newId();
  const key = objectName(org, newId());
  await declareUpload(db.system, org, key);
  const body = Buffer.from(`# Title ${i}\n\nHello world number ${i}. ` + Array.from({ length: 150 }, (_, k) => "word" + ((k * 7 + i * 13) % 997)).join(" "));
  const st = await deps.storage.put({ organizationId: org, name: key, body: (async function* () { yield body; })() });
  await inTenant(db, o, (sql) => acceptNewDocument(sql, { documentId: id, rawFileId: newId(), runId: newId(), organizationId: org, spaceId: space, folderId: null, userId: user, filename: "a.md", contentType: "text/markdown", fileType: "MARKDOWN", size: st.size, sha256: st.sha256, objectKey: key, path: `documents/${id}/original/a.md` } as any));
  deps.dispatcher.wake(o);
  return id;
};
for (let r = 0; r < 5; r++) {
  const t = performance.now();
  const id = await one(1000 + r);
  const t1 = performance.now();
  for (;;) { const doc = await inTenant(db, o, (sql) => findDocument(sql, principal, id)); if (doc?.processing_state.pipeline_status === "completed") { console.log("single", (t1 - t).toFixed(0), (performance.now() - t).toFixed(0)); if (r === 4) console.log(doc.processing_state); break; } if (performance.now() - t > 30000) { console.log(doc?.processing_state); break; } await new Promise((x) => setTimeout(x, 5)); }
}
const t = performance.now();
let k = 0;
await Promise.all(Array.from({ length: 8 }, async () => { while (k < N) await one(k++); }));
const t1 = performance.now();
for (;;) { const c = (await db.owner.query("select count(*)::int n from pipeline_runs where status='completed'")).rows[0].n; if (c >= N + 5 || performance.now() - t > 60000) { console.log("group", N, "accepted", (t1 - t).toFixed(0), "done", (performance.now() - t).toFixed(0), c, (N / (performance.now() - t) * 1000).toFixed(0) + " docs/s"); break; } await new Promise((x) => setTimeout(x, 20)); }
console.log((await db.owner.query("select cardinality(run_ids) n, count(*) from claims group by 1 order by 1")).rows.map((r) => `${r.n}:${r.count}`).join(" "));
await deps.close();
