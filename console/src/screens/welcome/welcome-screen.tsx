import { Button, Select, Stack, Text } from "@mantine/core";
import type { Schemas } from "@holdfast/client";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { answerOf } from "../../api/client.ts";
import { keyOf } from "../../api/keys.ts";
import { useHoldfast } from "../../app/context.ts";
import { lastSpace } from "../../app/preferences.ts";
import { spacesQuery } from "../../app/spaces.ts";
import { useMessages } from "../../messages/messages.ts";
import { PageHeader } from "../../parts/page-header.tsx";
import { QueryView } from "../../parts/query-view.tsx";
import { AskStep } from "./ask-step.tsx";
import { KeyStep } from "./key-step.tsx";
import { messages } from "./messages.ts";
import { SearchStep } from "./search-step.tsx";
import { UploadStep } from "./upload-step.tsx";

const MOST_SPACES = 100;

/** Leads through what Holdfast is for: upload, search, question, key. */
export function WelcomeScreen(): ReactNode {
  const texts = useMessages(messages);
  const holdfast = useHoldfast();
  const spaces = useQuery(spacesQuery(holdfast));
  const access = useQuery({
    queryKey: keyOf("access", "all"),
    queryFn: ({ signal }) =>
      answerOf(holdfast.api.GET("/v1/me/access", { params: { query: { limit: MOST_SPACES } }, signal })),
  });
  return (
    <>
      <PageHeader title={texts.title} text={texts.text} />
      <QueryView query={spaces}>
        {(all) => (
          <QueryView query={access}>
            {({ items }) => {
              const writable = new Set(
                items.filter(({ can }) => can.includes("documents:create")).map(({ space_id: id }) => id),
              );
              return <Steps spaces={all.filter(({ id }) => writable.has(id))} />;
            }}
          </QueryView>
        )}
      </QueryView>
    </>
  );
}

function Steps({ spaces }: { readonly spaces: readonly Schemas["Space"][] }): ReactNode {
  const texts = useMessages(messages);
  // A shared space shows more of what there is: agents can be asked there by others too.
  const suggested =
    spaces.find(({ id }) => id === lastSpace()) ??
    spaces.find(({ is_private: isPrivate }) => !isPrivate) ??
    spaces[0];
  const [chosen, setChosen] = useState<string | undefined>();
  const spaceId = chosen ?? suggested?.id;
  if (spaceId === undefined) return <Text>{texts.noSpace}</Text>;
  return (
    <Stack maw={820} gap="md">
      <Select
        label={texts.space}
        maw={320}
        allowDeselect={false}
        value={spaceId}
        onChange={(id) => id !== null && setChosen(id)}
        data={spaces.map(({ id, name, is_private: isPrivate }) => ({
          value: id,
          label: isPrivate ? texts.privateSpace : name,
        }))}
      />
      {/* Another space begins with nothing searched and nothing asked. */}
      <Stack key={spaceId} gap="md">
        <UploadStep spaceId={spaceId} />
        <SearchStep spaceId={spaceId} />
        <AskStep spaceId={spaceId} />
        <KeyStep spaceId={spaceId} />
      </Stack>
      <Button
        variant="default"
        style={{ alignSelf: "flex-start" }}
        renderRoot={(props) => <Link to="/spaces/$spaceId" params={{ spaceId }} {...props} />}
      >
        {texts.toSpace}
      </Button>
    </Stack>
  );
}
