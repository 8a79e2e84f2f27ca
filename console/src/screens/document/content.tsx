import type { Schemas } from "@holdfast/client";
import { Box, Flex, Stack, Text, Title, UnstyledButton } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type ReactNode, useEffect, useRef } from "react";
import { useHoldfast } from "../../app/context.ts";
import { useMessages } from "../../messages/messages.ts";
import { Empty } from "../../parts/empty.tsx";
import { Highlighted } from "../../parts/highlighted.tsx";
import { QueryView } from "../../parts/query-view.tsx";
import { useShortcuts } from "../../parts/shortcuts.tsx";
import type { Document } from "../space/documents.ts";
import "./content.css";
import { messages } from "./messages.ts";
import { Pages } from "./pages.tsx";
import { SHOWN_CHUNKS, chunksQuery } from "./queries.ts";
import { ReceiptCheck, useCited } from "./receipt-check.tsx";

type Chunk = Schemas["Chunk"];

interface Address {
  readonly page?: number;
  readonly chunk?: string;
  readonly version?: number;
  readonly receipt?: string;
}

interface Props {
  readonly document: Document;
  readonly address: Address;
}

const WITH_PAGES: readonly string[] = ["PDF", "PNG", "JPEG", "TIFF"];

/**
 * The pages as pictures beside the chunks, linked both ways; formats without pages have their chunks alone.
 */
export function Content({ document, address }: Props): ReactNode {
  const holdfast = useHoldfast();
  const navigate = useNavigate({ from: "/documents/$documentId" });
  const chunks = useQuery(chunksQuery(holdfast, document.id, document.version));
  const cited = useCited();
  const choose = (chunk: Chunk): void => {
    const page = pageOf(chunk);
    void navigate({ search: { chunk: chunk.id, ...(page === undefined ? {} : { page }) }, replace: true });
  };
  return (
    <>
      {address.receipt !== undefined && (
        <ReceiptCheck documentId={document.id} receipt={address.receipt} cited={cited} />
      )}
      <QueryView query={chunks}>
        {(all) => {
          const chosen = all.find(({ id }) => id === address.chunk);
          return (
            <Flex gap="lg" direction={{ base: "column", md: "row" }} align="flex-start">
              {WITH_PAGES.includes(document.file_type) && (
                <Pages
                  documentId={document.id}
                  chunks={all}
                  chosen={chosen}
                  address={{ ...address, page: address.page ?? pageOf(chosen) ?? 1 }}
                  onPage={(page) =>
                    void navigate({
                      search: (before) => ({ ...before, page }),
                      // The words that are cited stay marked.
                      state: true,
                      replace: true,
                    })
                  }
                  onChoose={choose}
                />
              )}
              <Chunks chunks={all} chosen={chosen} quote={cited} onChoose={choose} />
            </Flex>
          );
        }}
      </QueryView>
    </>
  );
}

const pageOf = (chunk: Chunk | undefined): number | undefined =>
  chunk?.locations?.find(({ page }) => page !== undefined)?.page ?? chunk?.page_start ?? undefined;

interface ChunksProps {
  readonly chunks: readonly Chunk[];
  readonly chosen: Chunk | undefined;
  readonly quote: ReturnType<typeof useCited>;
  readonly onChoose: (chunk: Chunk) => void;
}

function Chunks({ chunks, chosen, quote, onChoose }: ChunksProps): ReactNode {
  const texts = useMessages(messages).pages;
  const list = useRef<HTMLDivElement>(null);
  const chosenId = chosen?.id;
  useEffect(() => {
    const element = chosenId === undefined ? null : list.current?.querySelector(`[data-chunk="${chosenId}"]`);
    element?.scrollIntoView({ block: "nearest" });
  }, [chosenId]);
  const step = (by: number): void => {
    const at = chunks.findIndex(({ id }) => id === chosenId);
    const next = chunks[Math.min(Math.max(0, at + by), chunks.length - 1)];
    if (next !== undefined) onChoose(next);
  };
  useShortcuts([
    { keys: "j", label: texts.nextChunk, run: () => step(1) },
    { keys: "k", label: texts.previousChunk, run: () => step(-1) },
  ]);
  if (chunks.length === 0) return <Empty title={texts.none} text={texts.noneText} />;
  return (
    <Stack flex={1} miw={0} gap="xs">
      <Title order={2} size="h5">
        {texts.chunks}
      </Title>
      {chunks.length >= SHOWN_CHUNKS && (
        <Text size="sm" c="dimmed">
          {texts.more(SHOWN_CHUNKS)}
        </Text>
      )}
      <Box ref={list} className="chunks" tabIndex={0} role="group" aria-label={texts.chunks}>
        {chunks.map((chunk) => (
          <ChunkCard
            key={chunk.id}
            chunk={chunk}
            isChosen={chunk.id === chosenId}
            quote={chunk.id === chosenId ? quote?.quote : undefined}
            onChoose={() => onChoose(chunk)}
          />
        ))}
      </Box>
    </Stack>
  );
}

interface CardProps {
  readonly chunk: Chunk;
  readonly isChosen: boolean;
  readonly quote: string | undefined;
  readonly onChoose: () => void;
}

function ChunkCard({ chunk, isChosen, quote, onChoose }: CardProps): ReactNode {
  const texts = useMessages(messages).pages;
  const start = quote === undefined ? -1 : chunk.text.indexOf(quote);
  const page = pageOf(chunk);
  return (
    <div className="chunk" data-chunk={chunk.id} data-chosen={isChosen}>
      <UnstyledButton onClick={onChoose} aria-pressed={isChosen} fz="xs" fw={600}>
        {texts.chunk(chunk.chunk_index + 1)}
        {page !== undefined && ` · ${texts.showOnPage(page)}`}
      </UnstyledButton>
      <Text size="xs" c="dimmed">
        {texts.tokens(chunk.token_count)}
        {chunk.metadata.heading_path !== undefined && ` · ${chunk.metadata.heading_path.join(" › ")}`}
        {chunk.embedding.embedded || chunk.embedding.model === null ? "" : ` · ${texts.noVector}`}
      </Text>
      <Text size="sm" component="div">
        <Highlighted text={chunk.text} ranges={start < 0 ? [] : [[start, start + quote!.length]]} />
      </Text>
    </div>
  );
}
