import { FAMILY_NAMES, type FamilyName } from "./families.ts";
import { IN_TESTS, measureFamily } from "./measure.ts";
const only = process.argv[3];
const want = process.argv[2] ? [process.argv[2] as FamilyName] : FAMILY_NAMES;
for (const family of want) {
  const t = performance.now();
  const c = process.cpuUsage();
  let n = 0;
  let bad = 0;
  const slow: [number, string][] = [];
  let last = performance.now();
  const sums = new Map<string, number>();
  for await (const m of measureFamily(family, { ...IN_TESTS, deadlineMs: 10000, ...(only === "all" ? { extent: "all" as const } : {}) })) {
    n++;
    const now = performance.now();
    slow.push([now - last, `${m.subject} | ${m.shape} | ${m.longest?.cpuMs.toFixed(0)} ms @${m.longest?.length} g=${m.growth?.toFixed(2)} ${m.longest?.end}`]);
    sums.set(m.subject, (sums.get(m.subject) ?? 0) + now - last);
    last = now;
    if (m.faults.length) {
      bad++;
      console.log("  BAD", m.subject, "|", m.shape, "|", m.longest?.cpuMs.toFixed(0), "|", m.faults.join("; "));
    }
  }
  for (const [k, v] of [...sums].sort((a, b) => b[1] - a[1]).slice(0, 15)) console.log("   sum", (v / 1000).toFixed(1), k);
  const u = process.cpuUsage(c);
  console.log(`== ${family}: ${n} pairs, ${bad} bad, ${((performance.now() - t) / 1000).toFixed(1)} s wall, ${((u.user + u.system) / 1e6).toFixed(1)} s cpu`);
  for (const [ms, s] of slow.sort((a, b) => b[0] - a[0]).slice(0, 12)) console.log("    ", ms.toFixed(0), s);
}
