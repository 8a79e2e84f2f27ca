/** The addresses of the console. Each screen is a file of its own, which is loaded when it is first shown. */
import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  redirect,
} from "@tanstack/react-router";
import { LostPage } from "../parts/lost-page.tsx";
import { ScreenError } from "../parts/screen-error.tsx";
import { ScreenLoading } from "../parts/screen-loading.tsx";
import {
  agentAddress,
  chatAddress,
  documentAddress,
  keysAddress,
  organizationAddress,
  searchAddress,
  spaceAddress,
} from "./addresses.ts";
import { Shell } from "./shell/shell.tsx";

const root = createRootRoute({ component: Shell, notFoundComponent: LostPage });

const home = createRoute({
  getParentRoute: () => root,
  path: "/",
  component: lazyRouteComponent(() => import("../screens/home/home-screen.tsx"), "HomeScreen"),
});
const welcome = createRoute({
  getParentRoute: () => root,
  path: "welcome",
  component: lazyRouteComponent(() => import("../screens/welcome/welcome-screen.tsx"), "WelcomeScreen"),
});
const space = createRoute({
  getParentRoute: () => root,
  path: "spaces/$spaceId",
  validateSearch: spaceAddress,
  component: lazyRouteComponent(() => import("../screens/space/space-screen.tsx"), "SpaceScreen"),
});
const document = createRoute({
  getParentRoute: () => root,
  path: "documents/$documentId",
  validateSearch: documentAddress,
  component: lazyRouteComponent(() => import("../screens/document/document-screen.tsx"), "DocumentScreen"),
});
const search = createRoute({
  getParentRoute: () => root,
  path: "search",
  validateSearch: searchAddress,
  component: lazyRouteComponent(() => import("../screens/search/search-screen.tsx"), "SearchScreen"),
});
const chats = createRoute({
  getParentRoute: () => root,
  path: "chat",
  validateSearch: chatAddress,
  component: lazyRouteComponent(() => import("../screens/chat/chat-screen.tsx"), "ChatScreen"),
});
const chat = createRoute({
  getParentRoute: () => root,
  path: "chat/$conversationId",
  validateSearch: chatAddress,
  component: lazyRouteComponent(() => import("../screens/chat/chat-screen.tsx"), "ChatScreen"),
});
const agents = createRoute({
  getParentRoute: () => root,
  path: "agents",
  component: lazyRouteComponent(() => import("../screens/agents/agents-screen.tsx"), "AgentsScreen"),
});
/** `agents/new` makes one. */
const agent = createRoute({
  getParentRoute: () => root,
  path: "agents/$agentId",
  validateSearch: agentAddress,
  component: lazyRouteComponent(() => import("../screens/agents/agent-screen.tsx"), "AgentScreen"),
});
const people = createRoute({
  getParentRoute: () => root,
  path: "people",
  component: lazyRouteComponent(() => import("../screens/people/people-screen.tsx"), "PeopleScreen"),
});
const person = createRoute({
  getParentRoute: () => root,
  path: "people/$userId",
  component: lazyRouteComponent(() => import("../screens/people/person-screen.tsx"), "PersonScreen"),
});
const keys = createRoute({
  getParentRoute: () => root,
  path: "keys",
  validateSearch: keysAddress,
  component: lazyRouteComponent(() => import("../screens/keys/keys-screen.tsx"), "KeysScreen"),
});
const organizationHome = createRoute({
  getParentRoute: () => root,
  path: "organization",
  beforeLoad: () => {
    throw redirect({ to: "/organization/$part", params: { part: "usage" } });
  },
});
/** `usage`, `audit`, `webhooks` and `settings`. */
const organization = createRoute({
  getParentRoute: () => root,
  path: "organization/$part",
  validateSearch: organizationAddress,
  component: lazyRouteComponent(
    () => import("../screens/organization/organization-screen.tsx"),
    "OrganizationScreen",
  ),
});
const operations = createRoute({
  getParentRoute: () => root,
  path: "operations",
  component: lazyRouteComponent(
    () => import("../screens/operations/operations-screen.tsx"),
    "OperationsScreen",
  ),
});

export const router = createRouter({
  routeTree: root.addChildren([
    home,
    welcome,
    space,
    document,
    search,
    chats,
    chat,
    agents,
    agent,
    people,
    person,
    keys,
    organizationHome,
    organization,
    operations,
  ]),
  basepath: import.meta.env.BASE_URL,
  defaultPreload: "intent",
  defaultPendingComponent: ScreenLoading,
  defaultErrorComponent: ScreenError,
  defaultPendingMs: 200,
  scrollRestoration: true,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
