/** Serves a built site, the guide or the console, from its list of files, which is read once. */
import { readFile } from "node:fs/promises";
import type { IncomingHttpHeaders } from "node:http";
import { join } from "node:path";
import { listsEtag } from "../../commands/etag.ts";
import { type RawAnswer, raw } from "../response.ts";
import { type BuiltFile, LISTING, type Listing } from "./listing.ts";

/** How often a process that has no site yet looks whether it was built meanwhile. */
const LOOK_AGAIN_MS = 1_000;
const RETRY_AFTER_SECONDS = "5";

interface Built {
  readonly folder: string;
  readonly files: Listing;
}

interface SiteOptions {
  /** The folder of the built site, given the data folder. */
  readonly find: (dataDir: string) => Promise<string | undefined>;
  /** What is said while it is built. */
  readonly notYet: string;
  /** Of its pages, beside those of all files. */
  readonly pageHeaders: Readonly<Record<string, string>>;
}

interface Asked {
  readonly dataDir: string;
  readonly headers: IncomingHttpHeaders;
  /** Of this request's page, beside those of all pages. */
  readonly pageHeaders?: Readonly<Record<string, string>>;
}

export interface Site {
  /** @returns undefined if the site has no such file */
  answer(path: string, asked: Asked): Promise<RawAnswer | undefined>;
}

export function createSite({ find, notYet, pageHeaders }: SiteOptions): Site {
  const built = keepBuilt(find);
  return {
    async answer(path, { dataDir, headers, pageHeaders: more = {} }) {
      const site = await built.open(dataDir);
      if (site === undefined) return unavailable(notYet);
      const file = Object.hasOwn(site.files, path) ? site.files[path] : undefined;
      if (file === undefined) return undefined;
      const isPage = file.type.startsWith("text/html");
      const sent = { ...headersOf(file), ...(isPage ? { ...pageHeaders, ...more } : {}) };
      if (listsEtag(headers["if-none-match"] ?? "", sent.ETag))
        return raw({ status: 304, contentType: file.type, body: null, headers: sent });
      const coding = file.isZipped ? codingOf(headers["accept-encoding"]) : undefined;
      const suffix = coding === undefined ? "" : SUFFIXES[coding];
      const body = await contentOf(join(site.folder, fileNameOf(isPage, path) + suffix));
      if (body === undefined) {
        built.forget();
        return unavailable(notYet);
      }
      const encoded = coding === undefined ? {} : { "Content-Encoding": coding };
      return raw({ contentType: file.type, body, headers: { ...sent, ...encoded } });
    },
  };
}

/** Keeps the list of files once there is one. */
function keepBuilt(find: SiteOptions["find"]) {
  let found: Built | undefined;
  let looked: { readonly at: number; readonly outcome: Promise<Built | undefined> } | undefined;
  const look = async (dataDir: string): Promise<Built | undefined> => {
    const folder = await find(dataDir);
    const listing = folder === undefined ? undefined : await contentOf(join(folder, LISTING));
    if (folder === undefined || listing === undefined) return undefined;
    found = { folder, files: JSON.parse(listing.toString()) as Listing };
    return found;
  };
  return {
    async open(dataDir: string): Promise<Built | undefined> {
      if (found !== undefined) return found;
      if (looked === undefined || Date.now() - looked.at > LOOK_AGAIN_MS)
        looked = { at: Date.now(), outcome: look(dataDir) };
      return looked.outcome;
    },
    /** For a build that somebody has removed. */
    forget(): void {
      found = undefined;
    },
  };
}

const fileNameOf = (isPage: boolean, path: string): string =>
  isPage ? `${path === "" ? "index" : path}.html` : path;

const SUFFIXES = { br: ".br", gzip: ".gz" } as const;
type Coding = keyof typeof SUFFIXES;
const CODINGS: ReadonlyArray<readonly [Coding, RegExp]> = [
  ["br", /(?:^|[\s,])br\b(?!\s*;\s*q=0(\.0*)?\s*(,|$))/],
  ["gzip", /(?:^|[\s,])gzip\b(?!\s*;\s*q=0(\.0*)?\s*(,|$))/],
];

/** The best form that the client takes. */
const codingOf = (accepted = ""): Coding | undefined => CODINGS.find(([, form]) => form.test(accepted))?.[0];

/** @returns undefined if somebody has removed it. */
async function contentOf(path: string): Promise<Buffer | undefined> {
  try {
    return await readFile(path);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}

function headersOf({ tag, isHashed, isZipped }: BuiltFile) {
  return {
    // Weak, because it is the same for the file and its compressed forms.
    ETag: `W/"${tag}"`,
    "Cache-Control": isHashed ? "public, max-age=31536000, immutable" : "no-cache",
    ...(isZipped ? { Vary: "Accept-Encoding" } : {}),
  };
}

function unavailable(text: string): RawAnswer {
  return raw({
    status: 503,
    contentType: "text/plain; charset=utf-8",
    body: text,
    headers: { "Retry-After": RETRY_AFTER_SECONDS },
  });
}
