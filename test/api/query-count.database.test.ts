/** How many queries a plain read costs. All statements count but those that begin and end its transaction. */
import pg from "pg";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { getDocument } from "../../src/api/routes/documents/documents.ts";
import { createAuthenticator } from "../../src/auth/authenticate.ts";
import { newId } from "../../src/domain/ids.ts";
import { makeKey, makeOrganization, makeSpace, makeUser, TEST_PEPPER } from "../support/tenants/callers.ts";
import { createTestDatabase, type TestDatabase } from "../support/servers/database.ts";
import { startTinyApp, type TinyApp } from "../support/app/tiny-app.ts";

const AT_MOST = 3;

let database: TestDatabase;
let app: TinyApp;
let key: string;
const documentId = newId();
let now = Date.now();

beforeAll(async () => {
  database = await createTestDatabase();
  const { db } = database;
  const organization = await makeOrganization(db);
  const user = await makeUser(db, organization);
  const space = await makeSpace(db, organization, [[user, "viewer"]]);
  ({ text: key } = await makeKey(db, organization, user));
  await db.owner.query(
    `insert into documents
       (id, organization_id, space_id, space_num, name, file_type, file_size, content_type, created_by)
     select $1, $2, id, num, 'a.md', 'MARKDOWN', 1, 'text/markdown', $3
     from spaces
     where id = $4`,
    [documentId, organization.id, user, space],
  );
  app = await startTinyApp([getDocument], {
    db,
    authenticator: createAuthenticator({ db, pepper: TEST_PEPPER, now: () => now }),
  });
});
afterAll(async () => {
  await app.close();
  await database.drop();
});

async function statementsOfRead(): Promise<string[]> {
  const asked = vi.spyOn(pg.Client.prototype, "query");
  try {
    const response = await fetch(`${app.url}/v1/data/${documentId}`, {
      headers: { authorization: `Bearer ${key}` },
    });
    expect(response.status).toBe(200);
    const texts = asked.mock.calls.map(([query]) =>
      typeof query === "string" ? query : (query as unknown as pg.QueryConfig).text,
    );
    return texts
      .flatMap((text) => text.split(";").map((statement) => statement.trim()))
      .filter((statement) => !/^(begin( read only)?|commit)?$/.test(statement));
  } finally {
    asked.mockRestore();
  }
}

test(`a document is read with at most ${AT_MOST} queries, also if its key is not cached`, async () => {
  // The first request makes the private space of its caller.
  await statementsOfRead();
  const known = await statementsOfRead();
  expect(known.length).toBeGreaterThan(0);
  expect(known.length).toBeLessThan(AT_MOST);
  now += 60_000;
  const unknown = await statementsOfRead();
  expect(unknown.filter((statement) => statement.includes("authenticate_caller_key"))).toHaveLength(1);
  expect(unknown.length).toBeLessThanOrEqual(AT_MOST);
});
