/** VitePress's own theme, with the machine's fonts and the colors of Holdfast. */
import { type Theme, onContentUpdated } from "vitepress";
import DefaultTheme from "vitepress/theme-without-fonts";
import { onMounted } from "vue";
import { followTabs, showTab } from "./tabs.ts";
import "./style.css";
import "./code.css";

const theme: Theme = {
  extends: DefaultTheme,
  setup() {
    onMounted(followTabs);
    onContentUpdated(() => showTab());
  },
};

export default theme;
