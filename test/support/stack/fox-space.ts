/** A space with a few documents about foxes, for tests of search. */
import { type TestDatabase, createTestDatabase } from "../servers/database.ts";
import { hybridSearch } from "../search/hybrid-search.ts";
import type { SearchDeps, SearchRequest } from "../../../src/search/hybrid.ts";
import {
  type SearchSpace,
  type WrittenDocument,
  createFolder,
  createOrganization,
  createSpace,
  publishDocuments,
} from "./search-space.ts";

const DIMENSIONS = 8;
const model = { name: "test-model", dimensions: DIMENSIONS, fusion: { alpha: 0.4 } };

/** A vector that points mostly along one axis. */
export const along = (axis: number, rest = 0): Float32Array =>
  Float32Array.from({ length: DIMENSIONS }, (_, at) => (at === axis ? 1 : rest));

type Answer = Awaited<ReturnType<typeof hybridSearch>>;

export interface FoxSpace {
  readonly database: TestDatabase;
  readonly organization: Awaited<ReturnType<typeof createOrganization>>;
  readonly target: SearchSpace;
  readonly folders: { readonly parent: string; readonly child: string };
  readonly documents: Record<"root" | "parent" | "child" | "wordsOnly", WrittenDocument>;
  /** By default every query has the vector along axis 0. */
  deps(embed?: SearchDeps["queryEmbedding"]["embed"]): SearchDeps;
  /** Searches this space, or another one. */
  search(request: SearchRequest, scope?: SearchSpace): Promise<Answer>;
  /** The names of the documents that a search finds, sorted. */
  names(request: SearchRequest, scope?: SearchSpace): Promise<string[]>;
  drop(): Promise<void>;
}

export async function createFoxSpace(): Promise<FoxSpace> {
  const database = await createTestDatabase();
  const organization = await createOrganization(database.db);
  const target = await createSpace(database.db, organization);
  const parent = await createFolder(database.db, target, "Reports");
  const folders = { parent, child: await createFolder(database.db, target, "2026", parent) };
  const documents = await publishFoxes(database, target, folders);
  const deps = (embed: SearchDeps["queryEmbedding"]["embed"] = async () => along(0)): SearchDeps => ({
    db: database.db,
    queryEmbedding: { model, embed },
  });
  const search = (request: SearchRequest, scope: SearchSpace = target): Promise<Answer> =>
    hybridSearch(deps(), scope, request);
  const names = async (request: SearchRequest, scope?: SearchSpace): Promise<string[]> =>
    (await search(request, scope)).results.map((hit) => hit.document_name).toSorted();
  return {
    database,
    organization,
    target,
    folders,
    documents,
    deps,
    search,
    names,
    drop: () => database.drop(),
  };
}

async function publishFoxes(
  { db }: TestDatabase,
  target: SearchSpace,
  folders: FoxSpace["folders"],
): Promise<FoxSpace["documents"]> {
  const [root, inParent, inChild, wordsOnly] = await publishDocuments(db, target, [
    {
      name: "root.txt",
      chunks: [
        { text: "The quick brown fox jumps over the lazy dog.", vector: along(0, 0.2) },
        { text: "Nothing of it here.", vector: along(1) },
      ],
    },
    {
      name: "parent.txt",
      folderId: folders.parent,
      chunks: [{ text: "A fox is a small wild animal, and foxes are quick.", vector: along(2) }],
    },
    {
      name: "child.txt",
      folderId: folders.child,
      chunks: [{ text: "Dogs and foxes are relatives.", vector: along(0, 0.9) }],
    },
    { name: "words.txt", chunks: [{ text: "fox without a vector" }] },
  ]);
  return { root: root!, parent: inParent!, child: inChild!, wordsOnly: wordsOnly! };
}
