// Command manifests checks the files in deploy/ that other programs read: the Kubernetes
// manifests against the types of the Kubernetes API, the Compose file against the Compose
// specification, and the Dockerfile with the linter of BuildKit. It needs no network and no
// daemon.
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/moby/buildkit/frontend/dockerfile/instructions"
	"github.com/moby/buildkit/frontend/dockerfile/linter"
	"github.com/moby/buildkit/frontend/dockerfile/parser"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: manifests DIRECTORY, which is deploy/ of the project")
		os.Exit(2)
	}
	dir := os.Args[1]
	err := errors.Join(
		checkKubernetes(filepath.Join(dir, "kubernetes")),
		checkCompose(filepath.Join(dir, "compose", "compose.yaml")),
		checkDockerfile(filepath.Join(dir, "Dockerfile")),
	)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// checkKubernetes checks what kubectl apply would send: the output of kustomize, and the files
// that are applied one by one.
func checkKubernetes(dir string) error {
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), dir)
	if err != nil {
		return fmt.Errorf("kustomize: %w", err)
	}
	text, err := built.AsYaml()
	if err != nil {
		return fmt.Errorf("kustomize: %w", err)
	}
	errs := []error{checkDocuments(dir, text)}
	for _, name := range []string{"migrate.yaml", "secret.example.yaml"} {
		path := filepath.Join(dir, name)
		text, err := os.ReadFile(path)
		errs = append(errs, err)
		if err == nil {
			errs = append(errs, checkDocuments(path, text))
		}
	}
	return errors.Join(errs...)
}

// checkDocuments decodes each document into the type that its kind names, and refuses unknown
// and duplicate fields.
func checkDocuments(source string, text []byte) error {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		corev1.AddToScheme, appsv1.AddToScheme, batchv1.AddToScheme, networkingv1.AddToScheme, policyv1.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			return err
		}
	}
	decoder := serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDeserializer()
	documents := yaml.NewDocumentDecoder(io.NopCloser(bytes.NewReader(text)))
	var errs []error
	for buffer := make([]byte, len(text)+1); ; {
		n, err := documents.Read(buffer)
		if errors.Is(err, io.EOF) {
			return errors.Join(errs...)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", source, err)
		}
		if _, kind, err := decoder.Decode(buffer[:n], nil, nil); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", source, err))
		} else {
			fmt.Printf("%s: %s\n", source, kind)
		}
	}
}

// checkCompose loads a Compose file, which validates it against the schema of the
// specification.
func checkCompose(path string) error {
	options, err := cli.NewProjectOptions([]string{path}, cli.WithName("moderato"),
		cli.WithEnv([]string{"MYSQL_PASSWORD=example", "MYSQL_ROOT_PASSWORD=example", "GRAFANA_PASSWORD=example"}))
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	project, err := options.LoadProject(context.Background())
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	fmt.Printf("%s: %d services\n", path, len(project.Services))
	return nil
}

// checkDockerfile parses a Dockerfile. A warning of the linter is an error.
func checkDockerfile(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	parsed, err := parser.Parse(bytes.NewReader(text))
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	var errs []error
	for _, w := range parsed.Warnings {
		errs = append(errs, fmt.Errorf("%s: %s", path, w.Short))
	}
	lint := linter.New(&linter.Config{Warn: func(rule, _, _, message string, at []parser.Range) {
		errs = append(errs, fmt.Errorf("%s: %v: %s: %s", path, at, rule, message))
	}})
	stages, _, err := instructions.Parse(parsed.AST, lint)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	fmt.Printf("%s: %d stages\n", path, len(stages))
	return errors.Join(errs...)
}
