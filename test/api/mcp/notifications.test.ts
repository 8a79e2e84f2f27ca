/** Which events a session is told of, and how. */
import { expect, test } from "vitest";
import { notificationsOf } from "../../../src/api/mcp/notifications.ts";
import type { EventRow } from "../../../src/db/events/event-row.ts";

const SPACE = "01900000-0000-7000-8000-000000000010";
const idOf = (no: number) => `01900000-0000-7000-8000-00000000000${no}`;
const uriOf = (no: number) => `holdfast://spaces/${SPACE}/documents/${idOf(no)}`;

const event = (position: number, type: string, no: number): EventRow =>
  ({ position, type, resource: { type: "document", id: idOf(no) } }) as EventRow;
const told = (items: EventRow[], subscriptions: string[]) =>
  notificationsOf(items, subscriptions).map(({ message, position }) => [
    position,
    message.method.replace("notifications/", ""),
    message.params?.uri,
  ]);

test("changes of subscribed documents are told once, at the last place, in the order of the log", () => {
  const items = [
    event(1, "document.completed", 1),
    event(2, "document.completed", 2),
    event(3, "document.updated", 1),
    event(4, "document.completed", 3),
  ];

  expect(told(items, [uriOf(1), uriOf(2)])).toEqual([
    [2, "resources/updated", uriOf(2)],
    [3, "resources/updated", uriOf(1)],
  ]);
});

test("what comes and goes changes the list of resources, and agents that of prompts", () => {
  const items = [
    event(1, "document.uploaded", 1),
    event(2, "agent.updated", 2),
    event(3, "document.deleted", 1),
  ];

  expect(told(items, [uriOf(1)])).toEqual([
    [2, "prompts/list_changed", undefined],
    [3, "resources/updated", uriOf(1)],
    [3, "resources/list_changed", undefined],
  ]);
});

test("without subscriptions and changes nothing is told", () => {
  expect(told([event(1, "document.completed", 1)], [])).toEqual([]);
});
