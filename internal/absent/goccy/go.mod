module github.com/goccy/go-yaml

go 1.26.5

require go.yaml.in/yaml/v3 v3.0.5
