import type { SearchHit } from "@holdfast/client";
import { Anchor, Badge, Group, Paper, Stack, Text } from "@mantine/core";
import type { UseQueryResult } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useFormats } from "../../messages/formats.ts";
import { useMessages } from "../../messages/messages.ts";
import { Bidi } from "../../parts/bidi.tsx";
import { Empty } from "../../parts/empty.tsx";
import { Highlighted } from "../../parts/highlighted.tsx";
import { QueryView } from "../../parts/query-view.tsx";
import "./hits.css";
import { messages } from "./messages.ts";
import type { RankChange, Searches } from "./searches.ts";

interface Props {
  readonly query: Pick<UseQueryResult<Searches>, "data" | "error" | "refetch" | "fetchStatus">;
  readonly side: "left" | "right";
}

export function Hits({ query, side }: Props): ReactNode {
  const texts = useMessages(messages);
  const formats = useFormats();
  if (query.fetchStatus === "idle" && query.data === undefined && query.error === null) return null;
  return (
    <QueryView query={query}>
      {(searches) => {
        const { hits = [], took = 0 } = searches[side] ?? {};
        const changes = side === "right" ? searches.changes : undefined;
        return (
          <Stack gap="sm">
            <Text size="sm" c="dimmed" role="status">
              {texts.results(hits.length, formats.duration(took))}
            </Text>
            {hits.length === 0 && <Empty title={texts.noneTitle} text={texts.noneText} />}
            <Stack component="ol" className="hits" gap="sm">
              {hits.map((hit) => (
                <li key={hit.chunk_id}>
                  <Hit hit={hit} change={changes?.get(hit.chunk_id)} />
                </li>
              ))}
            </Stack>
          </Stack>
        );
      }}
    </QueryView>
  );
}

function Hit({
  hit,
  change,
}: {
  readonly hit: SearchHit;
  readonly change: RankChange | undefined;
}): ReactNode {
  const texts = useMessages(messages);
  const formats = useFormats();
  const page = hit.locations?.find((place) => place.page !== undefined)?.page ?? hit.metadata.page_start;
  const address = { chunk: hit.chunk_id, ...(typeof page === "number" ? { page } : {}) };
  return (
    <Paper withBorder p="sm" component="article">
      <Group justify="space-between" wrap="nowrap" align="flex-start" gap="sm">
        <Anchor
          fw={600}
          title={texts.open}
          renderRoot={(props) => (
            <Link
              to="/documents/$documentId"
              params={{ documentId: hit.document_id }}
              search={address}
              {...props}
            />
          )}
        >
          <Bidi>{hit.document_name}</Bidi>
        </Anchor>
        <Group gap={6} wrap="nowrap">
          {change !== undefined && <ChangeBadge change={change} />}
          {typeof page === "number" && (
            <Text size="xs" c="dimmed">
              {texts.page(page)}
            </Text>
          )}
        </Group>
      </Group>
      {hit.metadata.heading_path !== undefined && (
        <Text size="xs" c="dimmed">
          <Bidi>{hit.metadata.heading_path.join(" › ")}</Bidi>
        </Text>
      )}
      <Text size="sm" component="div" className="hit-text" tabIndex={0}>
        <Highlighted text={hit.text} ranges={hit.metadata.highlights} />
      </Text>
      <Group gap="md" mt={6}>
        <Text size="xs">
          {texts.score} {formats.number(hit.score)}
        </Text>
        <Bar label={texts.dense} value={hit.dense_score} kind="dense" />
        <Bar label={texts.sparse} value={hit.sparse_score} kind="sparse" />
        {hit.metadata.rerank_score !== undefined && (
          <Text size="xs" c="dimmed">
            {texts.reranked(formats.number(hit.metadata.rerank_score))}
          </Text>
        )}
      </Group>
    </Paper>
  );
}

interface BarProps {
  readonly label: string;
  readonly value: number | null;
  readonly kind: "dense" | "sparse";
}

function Bar({ label, value, kind }: BarProps): ReactNode {
  const formats = useFormats();
  return (
    <Group gap={4} wrap="nowrap">
      <Text size="xs" c="dimmed">
        {label}
      </Text>
      <span className="score-bar" data-kind={kind} aria-hidden>
        <span style={{ width: `${Math.round((value ?? 0) * 100)}%` }} />
      </span>
      <Text size="xs">{value === null ? "–" : formats.number(value)}</Text>
    </Group>
  );
}

function ChangeBadge({ change }: { readonly change: RankChange }): ReactNode {
  const texts = useMessages(messages).change;
  const by = Math.abs((change.left_rank ?? 0) - (change.right_rank ?? 0));
  const kind = change.change;
  const text = kind === "up" || kind === "down" ? texts[kind](by) : texts[kind];
  return (
    <Badge variant="outline" tt="none" color={kind === "same" ? "gray" : "indigo"} c="inherit">
      {text}
    </Badge>
  );
}
