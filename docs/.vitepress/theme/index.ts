/** VitePress's own theme, with the machine's fonts and the colors of Holdfast. */
import DefaultTheme from "vitepress/theme-without-fonts";
import "./style.css";
import "./code.css";

export default DefaultTheme;
