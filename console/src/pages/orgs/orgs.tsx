import { HomePage } from '../home/home.tsx';

export function OrgsPage() {
  return <HomePage />;
}
