/**
 * Sends requests to an API during the rest of the drill, so that an upgrade that refuses requests is noticed.
 */
import { call } from "../../support/clients/client.ts";
import { KEYS, SPACES } from "../../support/tenants/tenants.ts";

const PAUSE_MS = 50;

interface Served {
  readonly asked: number;
  readonly faults: readonly string[];
}

export interface Watch {
  /** Stops the watch and returns what it saw; may be called again. */
  stop(): Promise<Served>;
}

/** Lists documents, then searches, then lists models, one after the other. */
export function watchApi(url: string): Watch {
  const requests = [
    () => call(url, KEYS.viewer, "POST", "/data/search", { filters: { space_id__exact: SPACES.research } }),
    () =>
      call(url, KEYS.viewer, "POST", "/data/hybrid-search", {
        query: "the upgrade",
        space_id: SPACES.research,
      }),
    () => call(url, KEYS.viewer, "GET", "/models"),
  ];
  const faults: string[] = [];
  let isOver = false;
  let asked = 0;
  const watch = async (): Promise<void> => {
    while (!isOver) {
      const request = requests[asked % requests.length]!;
      asked += 1;
      const fault = await request().then(
        ({ status, body }) =>
          status === 200 ? undefined : `${status} ${JSON.stringify(body).slice(0, 200)}`,
        (error: unknown) => String((error as Error).cause ?? error),
      );
      if (fault !== undefined) faults.push(`a request at ${url} failed: ${fault}`);
      await new Promise((resume) => setTimeout(resume, PAUSE_MS));
    }
  };
  const watching = watch();
  return {
    async stop() {
      isOver = true;
      await watching;
      return { asked, faults };
    },
  };
}
