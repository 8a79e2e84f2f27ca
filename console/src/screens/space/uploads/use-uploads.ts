import { useCallback, useState, useSyncExternalStore } from "react";
import { createApi } from "../../../api/client.ts";
import { type Console, useConsole } from "../../../app/context.ts";
import { type Gathered, MOST_FILES } from "./dropped.ts";
import { ensureFolders } from "./folders.ts";
import { type Uploads, createUploads } from "./queue.ts";
import { sendTellingProgress } from "./send.ts";

/** One for each sign-in: uploads go on while another screen is shown. */
const queues = new WeakMap<Console["session"], Uploads>();

function uploadsOf({ address, session }: Console): Uploads {
  const known = queues.get(session);
  if (known !== undefined) return known;
  const uploads = createUploads(({ file, folderId, spaceId, key, signal, onProgress }) =>
    // Without the log of requests, which would keep each file in memory.
    createApi(address, { session, send: sendTellingProgress(onProgress) }).upload({
      file,
      filename: file.name,
      spaceId,
      ...(folderId === null ? {} : { folderId }),
      idempotencyKey: key,
      signal,
    }),
  );
  queues.set(session, uploads);
  askBeforeLeaving(uploads);
  return uploads;
}

/** Whoever closes the page while files are on their way is asked, whatever screen is shown. */
function askBeforeLeaving({ subscribe, view }: Uploads): void {
  const ask = (event: BeforeUnloadEvent): void => event.preventDefault();
  subscribe(() => {
    if (isBusy(view())) addEventListener("beforeunload", ask);
    else removeEventListener("beforeunload", ask);
  });
}

const isBusy = ({ counts }: ReturnType<Uploads["view"]>): boolean =>
  counts.waiting + counts.sending + counts.broken > 0;

type Preparation =
  | { readonly step: "none" | "reading" | "folders" | "too-many"; readonly skipped: number }
  | { readonly step: "failed"; readonly skipped: number; readonly error: unknown };

const NOTHING: Preparation = { step: "none", skipped: 0 };

export function useUploads(spaceId: string) {
  const console = useConsole();
  const uploads = uploadsOf(console);
  const view = useSyncExternalStore(uploads.subscribe, uploads.view);
  const [preparation, setPreparation] = useState(NOTHING);
  const add = useCallback(
    async (gathering: Gathered | Promise<Gathered>, parentId: string | null): Promise<void> => {
      setPreparation({ step: "reading", skipped: 0 });
      try {
        const { files, skipped } = await gathering;
        if (files.length > MOST_FILES) return setPreparation({ step: "too-many", skipped });
        const paths = [...new Set(files.map(({ folder }) => folder))].filter((path) => path !== "");
        if (paths.length > 0) setPreparation({ step: "folders", skipped });
        const ids = await ensureFolders(console.holdfast, { spaceId, parentId, paths });
        uploads.add(files, { spaceId, folderIdOf: (path) => ids.get(path) ?? parentId });
        setPreparation({ step: "none", skipped });
      } catch (error) {
        setPreparation({ step: "failed", skipped: 0, error });
      }
    },
    [console, uploads, spaceId],
  );
  return { uploads, view, preparation, isBusy: isBusy(view), add, dismiss: () => setPreparation(NOTHING) };
}
