import { expect, test } from 'bun:test';
import { imageNameProblem } from './image-name.ts';
import { IMAGE_NAME } from './snicket-image.ts';

test.each([
  IMAGE_NAME,
  'registry.example.com/snicket:0.1.0',
  'registry.example.com:5000/team/a_b/snicket:v1_rc.2-x',
  'localhost/snicket:dev',
])('%s is a valid name', (name) => {
  expect(imageNameProblem(name)).toBeUndefined();
});

test.each([
  '',
  'snicket',
  'snicket:1',
  'team/snicket:1', // kubelet reads it as docker.io/team/snicket:1
  'registry.example.com/snicket',
  'registry.example.com:5000/snicket',
  'registry.example.com/Snicket:1',
  'registry.example.com/snicket:',
  'registry.example.com/snicket:1 2',
  `registry.example.com/snicket@sha256:${'0'.repeat(64)}`,
])("'%s' is rejected with a hint", (name) => {
  const fault = imageNameProblem(name);

  expect(fault).toStartWith(`'${name}' is not an image name`);
  expect(fault).toContain('registry.example.com/snicket:0.1.0');
});
