/** The guide at /docs: the files that src/guide has built, from a list that is read once. */
import { readFile } from "node:fs/promises";
import type { IncomingHttpHeaders } from "node:http";
import { join } from "node:path";
import { z } from "zod";
import { listsEtag } from "../../../commands/etag.ts";
import { DomainError } from "../../../domain/errors.ts";
import { LISTING, findGuide } from "../../../guide/built.ts";
import type { BuiltFile, Listing } from "../../../guide/finish.ts";
import { type RawAnswer, raw } from "../../response.ts";
import { defineRoute, type Route } from "../../route.ts";

/** What the guide's pages may load: files of this server. Nothing inline runs or styles. */
export const GUIDE_CSP = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** How often a process that has no guide yet looks whether it was built meanwhile. */
const LOOK_AGAIN_MS = 1_000;
const RETRY_AFTER_SECONDS = "5";
const MAX_PATH = 500;

interface Guide {
  readonly folder: string;
  readonly files: Listing;
}

const hidden = {
  method: "GET",
  isUnversioned: true,
  isDocumented: false,
  access: "public",
  status: 200,
  tags: ["Documentation"],
} as const;

/** @param find the folder of the built guide, given the data folder */
export function guideRoutes(find: typeof findGuide = findGuide): Route[] {
  const guide = guideOf(find);
  return [
    defineRoute({
      ...hidden,
      path: "/",
      summary: "Leads to the guide.",
      handle: async () =>
        raw({ status: 302, contentType: "text/plain", body: null, headers: { Location: "/docs/" } }),
    }),
    defineRoute({
      ...hidden,
      path: "/docs",
      summary: "The guide.",
      handle: async ({ deps, request }) =>
        answer(await guide.open(deps.config.dataDir), "", { headers: request.headers, guide }),
    }),
    defineRoute({
      ...hidden,
      path: "/docs/*path",
      summary: "A page of the guide, or what it loads.",
      params: z.object({ path: z.string().max(MAX_PATH) }),
      handle: async ({ deps, params, request }) =>
        answer(await guide.open(deps.config.dataDir), params.path, { headers: request.headers, guide }),
    }),
  ];
}

type Finder = ReturnType<typeof guideOf>;

/** Keeps the list of files once there is one. */
function guideOf(find: typeof findGuide) {
  let found: Guide | undefined;
  let looked: { readonly at: number; readonly outcome: Promise<Guide | undefined> } | undefined;
  const look = async (dataDir: string): Promise<Guide | undefined> => {
    const folder = await find(dataDir);
    if (folder === undefined) return undefined;
    found = { folder, files: JSON.parse(await readFile(join(folder, LISTING), "utf8")) as Listing };
    return found;
  };
  return {
    async open(dataDir: string): Promise<Guide | undefined> {
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

interface Asked {
  readonly headers: IncomingHttpHeaders;
  readonly guide: Finder;
}

async function answer(built: Guide | undefined, path: string, { headers, guide }: Asked): Promise<RawAnswer> {
  if (built === undefined) return notYet();
  const file = Object.hasOwn(built.files, path) ? built.files[path] : undefined;
  if (file === undefined) throw new DomainError("route_not_found", "Not Found");
  const sent = headersOf(file);
  if (listsEtag(headers["if-none-match"] ?? "", sent.ETag))
    return raw({ status: 304, contentType: file.type, body: null, headers: sent });
  const isZipped = file.isZipped && takesGzip(headers["accept-encoding"]);
  const body = await contentOf(join(built.folder, nameOf(file, path) + (isZipped ? ".gz" : "")));
  if (body !== undefined)
    return raw({
      contentType: file.type,
      body,
      headers: isZipped ? { ...sent, "Content-Encoding": "gzip" } : sent,
    });
  guide.forget();
  return notYet();
}

function nameOf({ type }: BuiltFile, path: string): string {
  return type.startsWith("text/html") ? `${path === "" ? "index" : path}.html` : path;
}

const takesGzip = (accepted = ""): boolean => /\bgzip\b(?!\s*;\s*q=0(\.0*)?\s*(,|$))/.test(accepted);

/** @returns undefined if somebody has removed it. */
async function contentOf(path: string): Promise<Buffer | undefined> {
  try {
    return await readFile(path);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}

function headersOf({ tag, type, isHashed, isZipped }: BuiltFile) {
  return {
    // Weak, because it is the same for the file and its compressed form.
    ETag: `W/"${tag}"`,
    "Cache-Control": isHashed ? "public, max-age=31536000, immutable" : "no-cache",
    ...(isZipped ? { Vary: "Accept-Encoding" } : {}),
    ...(type.startsWith("text/html") ? { "Content-Security-Policy": GUIDE_CSP } : {}),
  };
}

function notYet(): RawAnswer {
  return raw({
    status: 503,
    contentType: "text/plain; charset=utf-8",
    body: "The guide is being built and will be here within a minute.\nBy hand: npm run guide\n",
    headers: { "Retry-After": RETRY_AFTER_SECONDS },
  });
}
