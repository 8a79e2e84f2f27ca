import type { Schemas } from "@holdfast/client";
import { Button, Flex, NativeSelect, NavLink, ScrollArea, Stack, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { type ReactNode, useState, useSyncExternalStore } from "react";
import { answerOf } from "../../api/client.ts";
import { keyOf } from "../../api/keys.ts";
import { useHoldfast, useMe } from "../../app/context.ts";
import { useMessages } from "../../messages/messages.ts";
import { Bidi } from "../../parts/bidi.tsx";
import { Empty } from "../../parts/empty.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { QueryView } from "../../parts/query-view.tsx";
import { Composer } from "./composer.tsx";
import { ConversationActions } from "./conversation-actions.tsx";
import { Turns } from "./turns.tsx";
import { messages } from "./messages.ts";
import { type Chats, chatsOf } from "./store/chats.ts";
import type { Conversation } from "./store/conversation.ts";

/** Conversations with agents. They are kept by this browser, and by nothing else. */
export function ChatScreen(): ReactNode {
  const { conversationId } = useParams({ strict: false });
  const holdfast = useHoldfast();
  const me = useMe();
  const chats = chatsOf(holdfast, me.id);
  const all = useSyncExternalStore(chats.onChange, chats.list);
  const chosen = all?.find(({ id }) => id === conversationId);
  return (
    <Flex gap="lg" h="calc(100dvh - 84px)">
      <Stack
        w={240}
        visibleFrom="md"
        gap="xs"
        component="nav"
        aria-label={useMessages(messages).conversations}
      >
        <ConversationList conversations={all ?? []} chosen={conversationId} />
      </Stack>
      <Stack flex={1} miw={0} gap="sm">
        <ConversationChoice conversations={all ?? []} chosen={conversationId} />
        {conversationId === undefined ? (
          <NewConversation chats={chats} />
        ) : (
          all !== undefined && <Held chats={chats} conversation={chosen} />
        )}
      </Stack>
    </Flex>
  );
}

interface ListProps {
  readonly conversations: readonly Conversation[];
  readonly chosen: string | undefined;
}

function ConversationList({ conversations, chosen }: ListProps): ReactNode {
  const texts = useMessages(messages);
  return (
    <>
      <Button variant="default" renderRoot={(props) => <Link to="/chat" {...props} />}>
        {texts.new}
      </Button>
      <Title order={2} size="h6">
        {texts.conversations}
      </Title>
      <ScrollArea flex={1}>
        {conversations.map(({ id, title }) => (
          <NavLink
            key={id}
            label={<Bidi>{title}</Bidi>}
            active={id === chosen}
            aria-current={id === chosen ? "page" : undefined}
            renderRoot={(props) => (
              <Link to="/chat/$conversationId" params={{ conversationId: id }} {...props} />
            )}
          />
        ))}
      </ScrollArea>
    </>
  );
}

/** The same list where there is no room for one. */
function ConversationChoice({ conversations, chosen }: ListProps): ReactNode {
  const texts = useMessages(messages);
  const navigate = useNavigate();
  return (
    <NativeSelect
      hiddenFrom="md"
      aria-label={texts.conversations}
      data={[
        { value: "", label: conversations.length === 0 ? texts.none : texts.new },
        ...conversations.map(({ id, title }) => ({ value: id, label: title })),
      ]}
      value={conversations.some(({ id }) => id === chosen) ? chosen! : ""}
      onChange={({ currentTarget: { value: conversationId } }) =>
        conversationId === ""
          ? void navigate({ to: "/chat" })
          : void navigate({ to: "/chat/$conversationId", params: { conversationId } })
      }
    />
  );
}

interface HeldProps {
  readonly chats: Chats;
  readonly conversation: Conversation | undefined;
}

function Held({ chats, conversation }: HeldProps): ReactNode {
  const texts = useMessages(messages);
  if (conversation === undefined)
    return (
      <>
        <PageHeader title={texts.title} />
        <Empty title={texts.gone} text={texts.goneText}>
          <Button renderRoot={(props) => <Link to="/chat" {...props} />}>{texts.new}</Button>
        </Empty>
      </>
    );
  const streaming = conversation.turns.find(({ state }) => state === "streaming");
  return (
    <>
      <PageHeader title={conversation.title} text={<Bidi>{conversation.agentName}</Bidi>}>
        <Button variant="default" hiddenFrom="md" renderRoot={(props) => <Link to="/chat" {...props} />}>
          {texts.new}
        </Button>
        <ConversationActions chats={chats} conversation={conversation} />
      </PageHeader>
      <Turns key={conversation.id} chats={chats} conversation={conversation} />
      <Composer
        key={`to ${conversation.id}`}
        onSend={(question) => chats.ask(conversation.id, question)}
        onStop={streaming === undefined ? undefined : () => chats.stop(streaming.id)}
      />
    </>
  );
}

function NewConversation({ chats }: { readonly chats: Chats }): ReactNode {
  const texts = useMessages(messages);
  const { api } = useHoldfast();
  const models = useQuery({
    queryKey: keyOf("agents", "models"),
    queryFn: () => answerOf(api.GET("/v1/models")),
  });
  return (
    <>
      <PageHeader title={texts.title} />
      <QueryView query={models}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty title={texts.noAgents} text={texts.noAgentsText}>
              <Button renderRoot={(props) => <Link to="/agents" {...props} />}>{texts.makeAgent}</Button>
            </Empty>
          ) : (
            <FirstQuestion chats={chats} agents={data} />
          )
        }
      </QueryView>
    </>
  );
}

const LAST_AGENT = "holdfast.agent";

interface FirstProps {
  readonly chats: Chats;
  readonly agents: readonly Schemas["Model"][];
}

function FirstQuestion({ chats, agents }: FirstProps): ReactNode {
  const texts = useMessages(messages);
  const navigate = useNavigate();
  const { agent: wanted } = useSearch({ strict: false });
  const [chosen, setChosen] = useState(() => {
    const last = wanted ?? localStorage.getItem(LAST_AGENT);
    return (agents.find(({ id }) => id === last) ?? agents[0]!).id;
  });
  const agent = agents.find(({ id }) => id === chosen) ?? agents[0]!;
  return (
    <>
      <Empty title={texts.startTitle} text={texts.startText}>
        <NativeSelect
          label={texts.agent}
          data={agents.map(({ id, name }) => ({ value: id, label: name }))}
          value={chosen}
          onChange={(event) => {
            setChosen(event.currentTarget.value);
            localStorage.setItem(LAST_AGENT, event.currentTarget.value);
          }}
          miw={220}
        />
      </Empty>
      <div style={{ flex: 1 }} />
      <Composer
        onSend={(question) => {
          const conversationId = chats.begin(agent, question);
          void navigate({ to: "/chat/$conversationId", params: { conversationId } });
        }}
        onStop={undefined}
      />
    </>
  );
}
