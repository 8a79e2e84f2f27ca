/**
 * The other API process of the bench: serves events of the database that it is given, until its parent
 * leaves.
 */
import { startEventApp } from "../../test/support/app/event-app.ts";
import { openThrowaway } from "../throwaway-database.ts";

const [url = ""] = process.argv.slice(2);
const app = await startEventApp(
  { db: openThrowaway(url, 10), env: { DATABASE_URL: url } },
  { streamsPerProcess: 10_000 },
);
process.on("message", () => {
  globalThis.gc?.();
  process.send?.({ rss: process.memoryUsage().rss, open: app.events.seats.counts().stream });
});
process.on("disconnect", () => process.exit());
process.send?.({ url: app.url });
