// Light or dark: as the system, unless a person chose.

import { say } from './dom.js';

const KEY = 'studio-theme';
const NEXT = { system: 'light', light: 'dark', dark: 'system' };
const NAMES = { system: 'Auto', light: 'Light', dark: 'Dark' };

function apply(theme) {
  const { documentElement: root } = document;
  if (theme === 'system') delete root.dataset.theme;
  else root.dataset.theme = theme;
  const button = document.getElementById('theme');
  say(button, NAMES[theme]);
  button.ariaLabel = `Colours: ${NAMES[theme]}`;
}

const chosen = () => {
  const theme = localStorage.getItem(KEY);
  return NEXT[theme] ? theme : 'system';
};

export const beginTheme = () => apply(chosen());

export function nextTheme() {
  const theme = NEXT[chosen()];
  localStorage.setItem(KEY, theme);
  apply(theme);
}
