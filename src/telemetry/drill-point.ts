/**
 * Named points in the code where the drill pauses a process to inject a fault. In production they do nothing:
 * only code that was loaded into the process can listen to them, and no setting loads any.
 */

/** A workflow's points begin with its name, other steps' with their function's, in the order of the work. */
export const DRILL_POINTS = [
  "documentPipeline: object stored, nothing accepted",
  "documentPipeline: accepted, nothing claimed",
  "documentPipeline: claimed, workflow not started",
  "documentPipeline: workflow started, answer not seen",
  "documentPipeline: prepare has its members",
  "documentPipeline: prepare has chunks, nothing written",
  "documentPipeline: embed has its members",
  "documentPipeline: provider answered, nothing kept",
  "documentPipeline: embedded, nothing published",
  "documentPipeline: runs locked, nothing written",
  "documentPipeline: entries written, not committed",
  "documentPipeline: published, workflow not told",
  "documentPipeline: step done, outcome not recorded",
  "deleteTarget: accepted, workflow not started",
  "deleteTarget: workflow started, answer not seen",
  "deleteTarget: object gone, rows there",
  "deleteTarget: document gone, step not ended",
  "deleteTarget: container gone, not committed",
  "batchReprocess: accepted, workflow not started",
  "batchReprocess: workflow started, answer not seen",
  "batchReprocess: runs released, not committed",
  "batchReprocess: step committed, workflow not told",
  "maintenance: stray runs queued",
  "maintenance: hidden entries gone, text there",
  "maintenance: text gone, objects there",
  "maintenance: objects gone, not noted",
  "indexUpkeep: segments to purge found",
  "indexUpkeep: segment analyzed, not rewritten",
  "indexUpkeep: vectors measured, not noted",
  "operation: accepted, workflow not started",
  "operation: workflow started, answer not seen",
  "operation: keys wrapped anew, not noted",
  "operation: key replaced, not noted",
  "chatTurns: turns noted, workflow not started",
  "chatTurns: workflow started, answer not seen",
  "chatTurns: turns ended, workflow not told",
  "chatTurns: waiting turns taken, workflow not started",
  "chatTurn: tools asked for, workflow not started",
  "chatTurn: tool in hand",
  "chatTurn: tool answered, workflow not told",
  "chatTurn: model answered, workflow not told",
  "backgroundResponse: written, turn not begun",
  "backgroundResponse: events written, end not written",
  "placeEvents: committed, not placed",
  "webhookDelivery: events placed, endpoint not started",
  "webhookDelivery: workflow started, answer not seen",
  "webhookDelivery: deliveries made, none sent",
  "webhookDelivery: sent, outcome not written",
  "webhookDelivery: outcome written, workflow not told",
  "createFile: object stored, nothing accepted",
  "createVectorStore: committed with its files, not answered",
  "createFileBatch: committed, not answered",
  "directory store: pieces about to be written",
] as const;

export type DrillPoint = (typeof DRILL_POINTS)[number];

/** Pauses until the promise resolves, and throws what the listener does: so drills fake a full disk. */
export type DrillListener = (point: DrillPoint) => Promise<void> | undefined;

let listener: DrillListener | undefined;

/**
 * Reports that the caller has reached the point. Await it; without a listener it returns undefined at once.
 * @see test/drill/points.test.ts
 */
export function drillPoint(point: DrillPoint): Promise<void> | undefined {
  return listener?.(point);
}

/** Replaces the listener; undefined removes it. */
export function onDrillPoint(one: DrillListener | undefined): void {
  listener = one;
}
