import type { Schemas } from "@holdfast/client";
import { Anchor, Badge, Group, Stack, Text, Title } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useMessages } from "../../messages/messages.ts";
import { Bidi } from "../../parts/bidi.tsx";
import type { Cited } from "../document/receipt-check.tsx";
import { messages } from "./messages.ts";

type Citation = Schemas["Citation"];

interface LinkProps {
  readonly citation: Citation;
  readonly label: string;
  readonly className?: string;
  readonly children: ReactNode;
}

/** Leads to the page with the cited words marked, where their receipt is checked. */
export function SourceLink({ citation, label, className, children }: LinkProps): ReactNode {
  const { document_id: documentId, chunk_id: chunk, receipt, quote, salt } = citation;
  const page = citation.locations?.find((place) => place.page !== undefined)?.page ?? citation.page;
  const cited: Cited | undefined = quote === undefined || salt === undefined ? undefined : { quote, salt };
  return (
    <Link
      to="/documents/$documentId"
      params={{ documentId }}
      search={{
        chunk,
        ...(typeof page === "number" ? { page } : {}),
        ...(receipt === undefined ? {} : { receipt }),
      }}
      state={cited === undefined ? {} : { cited }}
      aria-label={label}
      title={quote ?? label}
      {...(className === undefined ? {} : { className })}
    >
      {children}
    </Link>
  );
}

/** What the answer rests on, source by source. */
export function Sources({ citations }: { readonly citations: readonly Citation[] }): ReactNode {
  const texts = useMessages(messages);
  if (citations.length === 0) return null;
  return (
    <Stack gap={4} mt="sm">
      <Title order={2} size="h6">
        {texts.sources}
      </Title>
      {citations.map((citation) => (
        <div key={citation.index} className="source">
          <Group gap={6}>
            <Text size="sm">[{citation.index}]</Text>
            <Anchor component="span" size="sm">
              <SourceLink citation={citation} label={texts.source(citation.index, citation.document_name)}>
                <Bidi>{citation.document_name}</Bidi>
              </SourceLink>
            </Anchor>
            {citation.page !== null && (
              <Text size="xs" c="dimmed">
                {texts.page(citation.page)}
              </Text>
            )}
            {citation.support === "weak" && (
              <Badge variant="outline" color="orange" c="inherit" tt="none">
                {texts.weak}
              </Badge>
            )}
          </Group>
          {citation.quote !== undefined && (
            <Text size="sm" c="dimmed" ps="md">
              “<Bidi>{citation.quote}</Bidi>”
            </Text>
          )}
        </div>
      ))}
    </Stack>
  );
}
