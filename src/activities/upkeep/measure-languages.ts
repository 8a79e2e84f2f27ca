/** The step of index upkeep that measures how well embedding models tell the texts of a space apart. */
import { type Database, type OrganizationRef, inTenant } from "../../db/pool.ts";
import {
  findModelsToMeasure,
  keepMeasured,
  readNeighbours,
  sampleRuns,
} from "../../db/search/index/language-fit.ts";
import { choosePairs, measureAuc } from "../../domain/language-fit.ts";
import { drillPoint } from "../../telemetry/drill-point.ts";

/** Measures the models due on the space; two at once write the same. @returns how many were measured. */
export async function measureLanguages(
  db: Database,
  organization: OrganizationRef,
  spaceNum: number,
): Promise<number> {
  const models = await inTenant(db, organization, (sql) => findModelsToMeasure(sql, spaceNum));
  let measured = 0;
  for (const model of models) {
    const neighbours = await inTenant(db, organization, async (sql) =>
      readNeighbours(sql, model, choosePairs(await sampleRuns(sql, model))),
    );
    const result = measureAuc(neighbours);
    await drillPoint("indexUpkeep: vectors measured, not noted");
    const isKept = await inTenant(db, organization, (sql) =>
      keepMeasured(sql, organization.num, model, result),
    );
    if (isKept) measured++;
  }
  return measured;
}
