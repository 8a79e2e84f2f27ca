import type { Schemas } from "@holdfast/client";
import { Button, Group, Skeleton, Stack, Text } from "@mantine/core";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { type ReactNode, useEffect, useMemo } from "react";
import { useHoldfast } from "../../app/context.ts";
import { useMessages } from "../../messages/messages.ts";
import { ScreenError } from "../../parts/screen-error.tsx";
import { useShortcuts } from "../../parts/shortcuts.tsx";
import { messages } from "./messages.ts";
import { pagesQuery, pictureQuery } from "./queries.ts";

type Chunk = Schemas["Chunk"];

interface Props {
  readonly documentId: string;
  readonly chunks: readonly Chunk[];
  readonly chosen: Chunk | undefined;
  readonly address: { readonly page: number; readonly version?: number; readonly receipt?: string };
  readonly onPage: (page: number) => void;
  readonly onChoose: (chunk: Chunk) => void;
}

/** One page as the service draws it. A click on a text chooses its chunk, and the chosen chunk is marked. */
export function Pages({ documentId, chunks, chosen, address, onPage, onChoose }: Props): ReactNode {
  const texts = useMessages(messages).pages;
  const holdfast = useHoldfast();
  const { page, version, receipt } = address;
  const pages = useQuery(pagesQuery(holdfast, documentId, version));
  const picture = useQuery({
    ...pictureQuery(holdfast, documentId, { page, version, highlight: receipt }),
    placeholderData: keepPreviousData,
  });
  const url = useObjectUrl(picture.data);
  const all = pages.data?.total_items ?? 1;
  const go = (to: number): void => {
    if (to >= 1 && to <= all) onPage(to);
  };
  useShortcuts([
    { keys: "n", label: texts.next, run: () => go(page + 1) },
    { keys: "p", label: texts.previous, run: () => go(page - 1) },
  ]);
  const error = pages.error ?? picture.error;
  return (
    <Stack flex={1} miw={0} w="100%" gap="xs">
      <Group gap="xs">
        <Button
          size="compact-sm"
          variant="default"
          disabled={page <= 1}
          onClick={() => go(page - 1)}
          aria-label={texts.previous}
        >
          ‹
        </Button>
        <Text size="sm" role="status">
          {texts.page} {page} {texts.of(all)}
        </Text>
        <Button
          size="compact-sm"
          variant="default"
          disabled={page >= all}
          onClick={() => go(page + 1)}
          aria-label={texts.next}
        >
          ›
        </Button>
      </Group>
      {error !== null && <ScreenError error={error} retry={() => void picture.refetch()} />}
      {url === undefined && error === null && <Skeleton h={400} animate={false} />}
      {url !== undefined && error === null && (
        <div className="page">
          <img src={url} alt={texts.picture(page)} />
          <Boxes chunks={chunks} page={page} chosen={chosen} onChoose={onChoose} />
        </div>
      )}
    </Stack>
  );
}

interface BoxesProps {
  readonly chunks: readonly Chunk[];
  readonly page: number;
  readonly chosen: Chunk | undefined;
  readonly onChoose: (chunk: Chunk) => void;
}

const percent = (share: number): string => `${(share * 100).toFixed(2)}%`;

/** The lines of the chunks on the page. The list beside has a button for each chunk, which keys reach. */
function Boxes({ chunks, page, chosen, onChoose }: BoxesProps): ReactNode {
  return chunks.flatMap((chunk) =>
    (chunk.locations ?? [])
      .filter((location) => location.page === page)
      .flatMap(({ boxes = [] }) => boxes)
      .map(([left = 0, top = 0, right = 0, bottom = 0]) => (
        <button
          key={`${chunk.id} ${left} ${top}`}
          type="button"
          className="page-box"
          data-chosen={chunk.id === chosen?.id}
          tabIndex={-1}
          aria-hidden
          onClick={() => onChoose(chunk)}
          style={{
            left: percent(left),
            top: percent(top),
            width: percent(right - left),
            height: percent(bottom - top),
          }}
        />
      )),
  );
}

/** An address for the blob, as long as it is shown. */
function useObjectUrl(blob: Blob | undefined): string | undefined {
  const url = useMemo(() => (blob === undefined ? undefined : URL.createObjectURL(blob)), [blob]);
  useEffect(
    () => () => {
      if (url !== undefined) URL.revokeObjectURL(url);
    },
    [url],
  );
  return url;
}
