/**
 * What the linter asks of the console besides what it asks of all: the rules of React and of access for all.
 */
export const consoleRules = {
  files: ["console/src/**"],
  plugins: ["typescript", "import", "unicorn", "promise", "react", "jsx-a11y"],
  rules: {
    // A component is one description of what is shown, also where it is long.
    "max-lines-per-function": ["error", { max: 100, skipComments: true, skipBlankLines: true }],
    complexity: ["error", { max: 16 }],
    // Components take functions out of objects all the time; nothing here has a `this`.
    "typescript/unbound-method": "off",
    // An <output> is the result of a form; what is said of a state is none.
    "jsx-a11y/prefer-tag-over-role": "off",
    // The virtual list keeps its state outside of React, as its authors mean it; no compiler runs here.
    "react/incompatible-library": "off",
    "react/rules-of-hooks": "error",
    "react/exhaustive-deps": "error",
  },
} as const;
