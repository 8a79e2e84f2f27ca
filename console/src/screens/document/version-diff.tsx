import type { Schemas } from "@holdfast/client";
import { Alert, Box, Modal, Stack, Text } from "@mantine/core";
import { useQueries } from "@tanstack/react-query";
import { diffArrays } from "diff";
import { type ReactNode, useMemo } from "react";
import { useHoldfast } from "../../app/context.ts";
import { useFormats } from "../../messages/formats.ts";
import { useMessages } from "../../messages/messages.ts";
import { ScreenError } from "../../parts/screen-error.tsx";
import { ScreenLoading } from "../../parts/screen-loading.tsx";
import { messages } from "./messages.ts";
import { CHUNKS_PER_PAGE, chunksOfVersionQuery } from "./queries.ts";

interface Props {
  readonly documentId: string;
  readonly before: number;
  readonly after: number;
  readonly onClose: () => void;
}

type Chunk = Schemas["Chunk"];
type Kind = "same" | "added" | "removed";

interface Piece {
  readonly kind: Kind;
  readonly chunk: Chunk;
}

/** Which chunks a version has that the one before it has not, and the other way round, in their order. */
export function VersionDiff({ documentId, before, after, onClose }: Props): ReactNode {
  const texts = useMessages(messages).diff;
  const formats = useFormats();
  const holdfast = useHoldfast();
  const [old, now] = useQueries({
    queries: [before, after].map((version) => chunksOfVersionQuery(holdfast, documentId, version)),
  });
  const left = old?.data;
  const right = now?.data;
  const pieces = useMemo(
    () => (left === undefined || right === undefined ? undefined : piecesOf(left, right)),
    [left, right],
  );
  const error = old?.error ?? now?.error ?? null;
  const count = (kind: Kind): number => pieces?.filter((piece) => piece.kind === kind).length ?? 0;
  return (
    <Modal opened onClose={onClose} title={texts.title(before, after)} size="xl">
      {error !== null && <ScreenError error={error} />}
      {error === null && pieces === undefined && <ScreenLoading />}
      {pieces !== undefined && (
        <Stack gap="xs">
          {[left, right].some((chunks) => chunks?.length === CHUNKS_PER_PAGE) && (
            <Alert color="yellow" variant="light">
              {texts.cut(formats.number(CHUNKS_PER_PAGE))}
            </Alert>
          )}
          <Text role="status">{texts.summary(count("added"), count("removed"), count("same"))}</Text>
          {pieces.map(({ kind, chunk }) => (
            <Box key={`${kind} ${chunk.id}`} className="chunk-change" data-kind={kind}>
              <Text size="xs" fw={600}>
                {texts[kind]} · {texts.chunk(chunk.chunk_index + 1)}
              </Text>
              <Text size="sm" dir="auto" lineClamp={kind === "same" ? 1 : 12} className="chunk-change-text">
                {chunk.text}
              </Text>
            </Box>
          ))}
        </Stack>
      )}
    </Modal>
  );
}

/** More different chunks than this are no longer compared one with another, but shown as gone and new. */
const MAX_EDITS = 2_000;

function piecesOf(before: readonly Chunk[], after: readonly Chunk[]): Piece[] {
  const changes = diffArrays([...before], [...after], {
    comparator: (a, b) => a.text === b.text,
    maxEditLength: MAX_EDITS,
  });
  const all = (chunks: readonly Chunk[], kind: Kind): Piece[] => chunks.map((chunk) => ({ kind, chunk }));
  if (changes === undefined) return [...all(before, "removed"), ...all(after, "added")];
  return changes.flatMap(({ value, added, removed }) =>
    all(value, added ? "added" : removed ? "removed" : "same"),
  );
}
