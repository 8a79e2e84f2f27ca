import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { proveCitations } from "../../../src/agents/quotes/evidence.ts";
import type { MarkedQuote } from "../../../src/agents/quotes/quoter.ts";
import { packPlaces } from "../../../src/domain/locations/packed.ts";
import type { Statement } from "../../../src/domain/receipts/statement.ts";
import {
  createOrganization,
  createSpace,
  publishDocuments,
  republishDocument,
  type SearchSpace,
  type WrittenDocument,
} from "../../support/stack/search-space.ts";
import { type TestDatabase, createTestDatabase } from "../../support/servers/database.ts";

const TEXT = "Costs fell. Revenue grew by 12 percent.";
const QUOTE = [12, 39] as const;

let database: TestDatabase;
let target: SearchSpace;
let other: SearchSpace;
beforeAll(async () => {
  database = await createTestDatabase();
  const organization = await createOrganization(database.db);
  target = await createSpace(database.db, organization);
  other = await createSpace(database.db, await createOrganization(database.db));
});
afterAll(() => database.drop());

async function published(): Promise<WrittenDocument> {
  const [document] = await publishDocuments(database.db, target, [{ chunks: [{ text: TEXT }] }]);
  return document!;
}

const citationOf = ({ id, chunkIds }: WrittenDocument, text = TEXT) => ({
  index: 1,
  chunk_id: chunkIds[0]!,
  document_id: id,
  document_name: "report.pdf",
  chunk_index: 0,
  page: null,
  text,
});
const mark = (rest: Partial<MarkedQuote> = {}): MarkedQuote => ({
  index: 1,
  start: 30,
  end: 33,
  statement: {
    start: 0,
    end: 29,
    sentence: "Revenue grew by 12 percent.",
    words: "Revenue grew by 12 percent.",
  },
  quote: QUOTE,
  support: "strong",
  coverage: 1,
  rivals: [],
  ...rest,
});

const log = { warn: vi.fn<(...given: unknown[]) => void>() };

async function prove(document: WrittenDocument, quotes: MarkedQuote[], space = target, text = TEXT) {
  const vouched: Statement[] = [];
  const receipts = {
    issue: async (_: string, statements: readonly Statement[]) => {
      vouched.push(...statements);
      return statements.map((_statement, number) => ({
        receipt: `receipt ${number}`,
        salt: `salt ${number}`,
      }));
    },
  };
  const scope = {
    organization: space.organization,
    spaces: [{ ...space.space, role: "viewer" as const, is_private: false }],
    folderIds: null,
  };
  const answer = await proveCitations(
    { db: database.db, receipts, log },
    { scope, turnId: "turn" },
    [citationOf(document, text)],
    quotes,
  );
  return { ...answer, vouched };
}

describe("the evidence of a citation", () => {
  it("is read from the published chunk, with a receipt of each mark", async () => {
    const document = await published();
    const places = packPlaces([
      { from: 0, to: 11, spot: { page: 1, box: [0, 0, 1, 0.2] } },
      { from: 12, to: 39, spot: { page: 2, box: [0, 0, 1, 0.2] } },
    ]);
    await database.db.owner.query(
      "update chunks set start_offset = 100, end_offset = $2, places = $3 where run_num = $1",
      [document.runNum, 100 + TEXT.length, JSON.stringify(places)],
    );
    const weak = mark({ quote: null, support: "weak", coverage: 0 });
    const { citations, marks, vouched } = await prove(document, [weak, mark()]);
    const evidence = {
      quote: "Revenue grew by 12 percent.",
      quote_start: 12,
      quote_end: 39,
      support: "strong",
      receipt: "receipt 0",
      salt: "salt 0",
    };
    expect(citations).toEqual([
      {
        ...citationOf(document),
        document_version: 1,
        ...evidence,
        locations: [{ page: 2, boxes: [[0, 0, 1, 0.2]] }],
      },
    ]);
    const place = { index: 1, start: 30, end: 33, sentence_start: 0, sentence_end: 29 };
    expect(marks).toEqual([
      { ...place, support: "weak" },
      { ...place, ...evidence },
    ]);
    expect(vouched).toEqual([
      expect.objectContaining({
        spaceId: target.space.id,
        documentId: document.id,
        documentVersion: 1,
        chunkText: TEXT,
        quote: evidence.quote,
        start: 112,
        end: 139,
        locations: [{ page: 2, boxes: [[0, 0, 1, 0.2]] }],
        sentence: "Revenue grew by 12 percent.",
        turnId: "turn",
      }),
    ]);
  });

  it("has the locations of the chunk where those of the quote are unknown, and no guessed offsets", async () => {
    const document = await published();
    const places = packPlaces([{ from: 0, to: 11, spot: { lines: [1, 1] } }]);
    // A repeated header: the chunk is longer than its part of the document.
    await database.db.owner.query(
      "update chunks set start_offset = 100, end_offset = 110, places = $2 where run_num = $1",
      [document.runNum, JSON.stringify(places)],
    );
    const { citations, vouched } = await prove(document, [mark()]);
    expect(citations[0]!.locations).toEqual([{ lines: [1, 1] }]);
    expect(vouched[0]).not.toHaveProperty("start");
  });

  it("is missing if the chunk was replaced since, or is out of reach", async () => {
    const document = await published();
    const bare = {
      citations: [citationOf(document)],
      vouched: [],
      marks: [expect.not.objectContaining({ quote: expect.anything() })],
    };
    expect(await prove(document, [mark()], other)).toEqual(bare);
    await republishDocument(database.db, target, document, { chunks: [{ text: TEXT }] });
    expect(await prove(document, [mark()])).toEqual(bare);
  });

  it("has no quote if the passage had other words there than the chunk", async () => {
    const document = await published();
    const { citations, vouched } = await prove(
      document,
      [mark()],
      target,
      "Costs fell. Something else entirely!",
    );
    expect(citations[0]).not.toHaveProperty("quote");
    expect(vouched).toEqual([]);
  });

  it("has its quote also if no receipt can be made, which is logged", async () => {
    const document = await published();
    const receipts = { issue: () => Promise.reject(new Error("There is no key.")) };
    const scope = {
      organization: target.organization,
      spaces: [{ ...target.space, role: "viewer" as const, is_private: false }],
      folderIds: null,
    };
    const { citations } = await proveCitations(
      { db: database.db, receipts, log },
      { scope, turnId: "turn" },
      [citationOf(document)],
      [mark()],
    );
    expect(citations).toMatchObject([{ quote: "Revenue grew by 12 percent.", support: "strong" }]);
    expect(citations[0]).not.toHaveProperty("receipt");
    expect(log.warn).toHaveBeenCalledTimes(1);
  });
});
