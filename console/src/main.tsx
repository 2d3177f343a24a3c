import './data/welcome.ts';
import './base.css';
import './parts/parts.css';
import './shell/shell.css';
import { render } from 'preact';
import { App } from './shell/app.tsx';
import { apply } from './shell/theme.ts';

apply();
const root = document.getElementById('root');
// Without exact parsing, IDs beyond 2^53 would lose digits.
if (root && !('rawJSON' in JSON)) root.textContent = 'This browser is too old for the console. Please update it.';
else if (root) render(<App />, root);
