/**
 * Workers given payloads that cannot be sealed, or inputs that the service has not sealed for them: that one
 * workflow suffers, and the worker serves on.
 */
import { randomUUID } from "node:crypto";
import type { Payload } from "@temporalio/common";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DomainError } from "../../src/domain/errors.ts";
import type { PayloadKind } from "../../src/domain/payloads/places.ts";
import { deletionWorkflowId } from "../../src/domain/work/workflow-ids.ts";
import { ensureSchedules } from "../../src/temporal/schedules.ts";
import {
  type SealedWorkers,
  TYPES,
  memoryKeyring,
  notingActivities,
  plain,
  startSealedWorkers,
} from "../support/workflows/sealed-workers.ts";
import { describeForgedMessages, describeForgedResults } from "./forged-messages.ts";
import { newWorkflow } from "../support/workflows/listening.ts";
import { until } from "../support/until.ts";

const down = new DomainError("database_unavailable", "Postgres is away.");
const gone = new DomainError("not_found", "The organization was deleted.");
const { keyring, unreadable } = memoryKeyring();

const noted = notingActivities();
const { activities, during, attempts, served, held } = noted;

let sealed: SealedWorkers;
beforeAll(async () => {
  sealed = await startSealedWorkers(keyring, activities);
});
afterAll(() => {
  for (const one of held.values()) one.resolve();
  return sealed.close();
});

const states = (): Set<string> => new Set(sealed.workers.map((worker) => worker.getState()));

function startDeletion(organizationId: string) {
  const deletionId = randomUUID();
  return sealed.client.workflow.start<(input: object) => Promise<number>>("deleteTarget", {
    taskQueue: sealed.taskQueue,
    workflowId: deletionWorkflowId(organizationId, deletionId),
    args: [{ organization: { id: organizationId, num: 1 }, deletionId }],
  });
}

describe("keys", () => {
  test("while keys cannot be read for a failed activity, the worker serves others", async () => {
    const [hit, other] = [randomUUID(), randomUUID()];
    during.set(hit, (attempt) => {
      if (attempt > 1) return;
      unreadable.set(hit, down);
      keyring.forget(hit);
      throw down;
    });
    const handle = await startDeletion(hit);
    await until("the activity has failed", () => attempts.get(hit) === 1);
    expect(await (await startDeletion(other)).result()).toBe(1);
    expect(states()).toEqual(new Set(["RUNNING"]));
    unreadable.delete(hit);
    expect(await handle.result()).toBe(2);
  });

  test("a result is kept until the keys can be read, and nothing is done twice", async () => {
    const hit = randomUUID();
    during.set(hit, () => {
      unreadable.set(hit, down);
      keyring.forget(hit);
    });
    const handle = await startDeletion(hit);
    await until("the activity has run", () => attempts.get(hit) === 1);
    during.delete(hit);
    unreadable.delete(hit);
    expect(await handle.result()).toBe(1);
  });

  test("work of an organization without a key fails for good, and the worker serves others", async () => {
    const [hit, other] = [randomUUID(), randomUUID()];
    during.set(hit, () => {
      unreadable.set(hit, gone);
      keyring.forget(hit);
      throw new Error("It fails without its key.");
    });
    const handle = await startDeletion(hit);
    expect(await sealed.endOf(handle.workflowId)).toEqual(["", "forged"]);
    expect(attempts.get(hit)).toBe(1);
    expect(await (await startDeletion(other)).result()).toBe(1);
    expect(states()).toEqual(new Set(["RUNNING"]));
  });
});

describe("a workflow that somebody else has started", () => {
  test.each(TYPES)(
    "%s fails for good, whatever it was given, and none of its activities runs",
    async (type) => {
      const input = {
        organization: { id: randomUUID(), num: 1 },
        claimId: randomUUID(),
        turnIds: [],
        calls: [],
        apiQueue: "x",
        toolQueue: "x",
        caller: {},
      };
      const forged: Record<string, (own: string) => Payload[] | Promise<Payload[]>> = {
        nothing: () => [],
        plain: () => [plain(input)],
        foreign: () => sealed.seal(newWorkflow(), { kind: "input", name: type }, [input]),
        copied: (own) => sealed.seal(`${own}0`, { kind: "input", name: type }, [input]),
        "of another type": (own) => sealed.seal(own, { kind: "input", name: "listens" }, [input]),
        "another argument's": async (own) =>
          (await sealed.seal(own, { kind: "input", name: type }, [0, input])).slice(1),
      };
      for (const [what, make] of Object.entries(forged)) {
        const own = newWorkflow();
        await sealed.startBare(type, own, await make(own));
        expect({ what, ended: await sealed.endOf(own) }).toEqual({
          what,
          ended: expect.arrayContaining(["forged"]),
        });
        expect(served.has(own)).toBe(false);
      }
      // The log contains nothing of what they were given.
      expect(JSON.stringify(sealed.refused)).not.toContain(input.claimId);
      expect(await (await startDeletion(randomUUID())).result()).toBe(1);
    },
  );

  test("the types are all of the service", async () => {
    expect(Object.keys(await import("../../src/workflows/index.ts")).toSorted()).toEqual(TYPES.toSorted());
  });

  test("a payload of the same workflow that is something else is no input of it", async () => {
    const kinds: PayloadKind[] = [
      "child",
      "result",
      "signal",
      "update",
      "update-result",
      "query",
      "query-result",
      "failure",
      "note",
    ];
    const own = newWorkflow();
    for (const kind of kinds) {
      await sealed.startBare("listens", own, await sealed.seal(own, { kind, name: "listens" }, ["text"]));
      expect({ kind, ended: await sealed.endOf(own) }).toEqual({ kind, ended: ["forged"] });
    }
    for (const kind of ["activity-input", "activity-result", "local-activity-input", "heartbeat"] as const) {
      await sealed.startBare(
        "listens",
        own,
        await sealed.seal(own, { kind, name: "listens" }, ["text"], "1"),
      );
      expect({ kind, ended: await sealed.endOf(own) }).toEqual({ kind, ended: ["forged"] });
    }
    await sealed.startBare(
      "listens",
      own,
      await sealed.seal(own, { kind: "input", name: "listens" }, ["text"]),
    );
    await sealed.client.workflow.getHandle(own).signal("hush");
    expect(await sealed.client.workflow.getHandle(own).result()).toEqual(["text"]);
  });

  test("a schedule that somebody else has written is written anew", async () => {
    const action = {
      type: "startWorkflow",
      workflowType: "maintenance",
      workflowId: "maintenance",
      taskQueue: "nobody",
      args: [{ isThorough: true }],
    } as const;
    await sealed.bare.schedule.create({
      scheduleId: "maintenance",
      spec: { intervals: [{ every: "1 day" }] },
      action,
    });
    await ensureSchedules(sealed.client);
    const { action: mended } = await sealed.client.schedule.getHandle("maintenance").describe();
    expect(mended).toMatchObject({ taskQueue: "pipeline", args: [{ isThorough: false }] });
    for (const id of ["maintenance", "maintenance-thorough", "index-upkeep"])
      await sealed.client.schedule.getHandle(id).delete();
  });
});

describe("a workflow of the service that somebody else speaks to", () => {
  describeForgedMessages(() => sealed);
  describeForgedResults(() => sealed, noted);
});
